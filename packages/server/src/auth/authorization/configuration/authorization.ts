/**
 * The authorization of a control plane: administrators first, then the configured authorizers. The configuration file is reloaded when it
 * changes; an invalid file is reported and the previous configuration stays in use. Pending requests are decided by the authorizers they
 * started with.
 */

import { readFile } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import { asError } from '@hangar/core';
import type { ControlPlane } from '../../../control-plane.ts';
import { kubeconfigAccess } from '../../../outbound/cluster-access.ts';
import type { RequestInfo } from '../../../request/info.ts';
import type { Authorizer, Judgement, SubjectRules } from '../../authorize.ts';
import type { User } from '../../user.ts';
import { authorizerOf, superusers } from '../modes.ts';
import type { AuthorizationMode } from '../modes.ts';
import { AuthorizerUnion } from '../union.ts';
import type { WebhookAuthorizer } from '../webhook/webhook-authorizer.ts';
import { ConfigurationError, readConfiguration } from './configuration.ts';
import type { AuthorizerConfiguration, WebhookConfiguration } from './configuration.ts';

export interface AuthorizationOptions {
  /** Fixed, or a file that is watched. */
  readonly source: readonly AuthorizerConfiguration[] | { readonly file: string };
  /** Called with the reason why a changed file was rejected. */
  readonly onError: (error: Error) => void;
  /** Poll interval of the file; absent: every second. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 1_000;

export class Authorization implements Authorizer {
  readonly #plane: ControlPlane;
  readonly #options: AuthorizationOptions;
  /** Authorizers and their watches survive a reload. */
  readonly #ofModes = new Map<AuthorizationMode, Authorizer>();
  #current = new AuthorizerUnion([]);
  /**
   * Aborts the calls of all webhooks, including removed ones with pending calls. Created with the first webhook: most control planes have
   * none, and `abort` is slow.
   */
  #closing: AbortController | undefined;
  #bytes: Buffer | undefined;
  #file: string | undefined;
  #isClosed = false;

  private constructor(plane: ControlPlane, options: AuthorizationOptions) {
    this.#plane = plane;
    this.#options = options;
  }

  /** Rejects with a ConfigurationError if the configuration is invalid. */
  static async open(plane: ControlPlane, options: AuthorizationOptions): Promise<Authorization> {
    const authorization = new Authorization(plane, options);
    const { source } = options;
    if ('file' in source) await authorization.#follow(source.file);
    else await authorization.#use(source);
    return authorization;
  }

  authorize(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    return this.#current.judge(user, info);
  }

  rulesFor(user: User, namespace: string): Promise<SubjectRules> {
    return this.#current.rulesFor(user, namespace);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#file !== undefined) unwatchFile(this.#file, this.#look);
    this.#closing?.abort();
    for (const one of this.#ofModes.values()) one.close?.();
  }

  async #follow(file: string): Promise<void> {
    this.#bytes = await readFile(file);
    await this.#use(readConfiguration(this.#bytes));
    this.#file = file;
    watchFile(file, { persistent: false, interval: this.#options.intervalMs ?? defaultIntervalMs }, this.#look);
  }

  readonly #look = (): void => {
    void this.#reload().catch((error: unknown) => this.#options.onError(asError(error)));
  };

  async #reload(): Promise<void> {
    const bytes = await readFile(this.#file!);
    if (this.#isClosed || this.#bytes?.equals(bytes)) return;
    this.#bytes = bytes;
    await this.#use(readConfiguration(bytes));
  }

  async #use(configured: readonly AuthorizerConfiguration[]): Promise<void> {
    const authorizers: Authorizer[] = [superusers];
    for (const one of configured) {
      authorizers.push(one.type === 'Webhook' ? await this.#webhook(one.webhook) : this.#ofMode(one.type));
    }
    // Only after all of the configuration is known to work.
    this.#current = new AuthorizerUnion(authorizers);
  }

  #ofMode(mode: AuthorizationMode): Authorizer {
    let authorizer = this.#ofModes.get(mode);
    if (!authorizer) this.#ofModes.set(mode, (authorizer = authorizerOf(this.#plane, mode)));
    return authorizer;
  }

  async #webhook(webhook: WebhookConfiguration): Promise<WebhookAuthorizer> {
    const { kubeconfigFile, matchConditions, ...options } = webhook;
    let access;
    try {
      access = await kubeconfigAccess(kubeconfigFile);
    } catch (error) {
      throw new ConfigurationError(asError(error).message, { cause: error });
    }
    const matches = matchConditions.length === 0 ? {} : { matches: await compiled(matchConditions) };
    const loaded = await import('../webhook/webhook-authorizer.ts');
    const { signal } = (this.#closing ??= new AbortController());
    if (this.#isClosed) this.#closing.abort();
    return new loaded.WebhookAuthorizer({ ...options, access, ...matches, signal }, this.#plane);
  }
}

async function compiled(expressions: readonly string[]): Promise<(spec: Record<string, unknown>) => boolean> {
  const { MatchConditions } = await import('../webhook/match-conditions.ts');
  for (const expression of expressions) {
    const problem = MatchConditions.problemOf(expression);
    if (problem !== undefined) throw new ConfigurationError(`matchConditions: ${expression}: ${problem}`);
  }
  const conditions = new MatchConditions(expressions);
  return (spec) => conditions.match(spec);
}
