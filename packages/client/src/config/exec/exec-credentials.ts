/**
 * Credentials of a plugin: run when they are first needed, when they expire and when the server rejects them. Concurrent requests share one
 * run; an aborted request does not abort a run that others wait for.
 */

import { orAborted, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ClientCertificate, Credentials } from '../cluster-config.ts';
import { bearer, digest } from '../credentials-material.ts';
import type { ExecConfig } from './exec-config.ts';
import { execCredentialOf } from './exec-credential.ts';
import type { ExecCredential } from './exec-credential.ts';
import { execInfo } from './exec-info.ts';
import type { ExecCluster } from './exec-info.ts';
import { pluginError, runPlugin } from './run-plugin.ts';

/** Minimum time between runs after rejections: concurrent rejections have one cause, and the last run has handled it. */
const refreshEveryMsMin = 2_000;
/** A plugin that fails is not run for each of a thousand requests. */
const failureLastsMs = 1_000;
const timeoutMs = 60_000;
/** Users may need time for a second factor. */
const interactiveTimeoutMs = 10 * 60_000;

export interface ExecCredentialsOptions {
  readonly config: ExecConfig;
  readonly cluster: ExecCluster;
  readonly clock?: Clock | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Reports whether a user can interact. Absent: whether standard input is a terminal. */
  readonly isTerminal?: boolean | undefined;
  /** Absent: writes to the standard error of this process. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  /** Absent: a minute, or ten for interactive plugins. */
  readonly timeoutMs?: number | undefined;
}

export class ExecCredentials implements Credentials {
  readonly #options: ExecCredentialsOptions;
  readonly #clock: Clock;
  readonly fingerprint: string;
  #current: (ExecCredential & { readonly headers: Readonly<Record<string, string>> }) | undefined;
  #gotAtMs = -Infinity;
  #failure: { readonly error: Error; readonly untilMs: number } | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ExecCredentialsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.fingerprint = digest('exec', JSON.stringify(options.config), JSON.stringify(options.cluster));
  }

  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>> {
    if (this.#isFresh()) return this.#current!.headers;
    return this.#get(signal).then(() => this.#current!.headers);
  }

  async clientCertificate(signal?: AbortSignal): Promise<ClientCertificate | undefined> {
    if (!this.#isFresh()) await this.#get(signal);
    return this.#current!.pair;
  }

  async refresh(signal?: AbortSignal): Promise<boolean> {
    if (this.#running === undefined && this.#clock.monotonicMs() - this.#gotAtMs < refreshEveryMsMin) return true;
    await this.#get(signal);
    return true;
  }

  #isFresh(): boolean {
    if (this.#current === undefined) return false;
    const { expiresAtMs = Infinity } = this.#current;
    return this.#clock.now() < expiresAtMs;
  }

  async #get(signal: AbortSignal | undefined): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    await orAborted(this.#running, signal);
  }

  async #run(): Promise<void> {
    if (this.#failure !== undefined && this.#clock.monotonicMs() < this.#failure.untilMs) throw this.#failure.error;
    try {
      const { config, cluster, env = process.env } = this.#options;
      const isInteractive = this.#isInteractive();
      const output = await runPlugin({
        config,
        info: execInfo(config, cluster, isInteractive),
        isInteractive,
        env,
        clock: this.#clock,
        timeoutMs: this.#options.timeoutMs ?? (isInteractive ? interactiveTimeoutMs : timeoutMs),
        onStderr: this.#options.onStderr ?? ((chunk) => void process.stderr.write(chunk)),
      });
      this.#take(execCredentialOf(config, output));
    } catch (error) {
      this.#failure = { error: error as Error, untilMs: this.#clock.monotonicMs() + failureLastsMs };
      throw error;
    }
  }

  #take(got: ExecCredential): void {
    const { pair: before } = this.#current ?? {};
    const isSame = before !== undefined && before.certificate === got.pair?.certificate && before.key === got.pair.key;
    const headers = got.token === undefined ? {} : bearer(got.token);
    // An equal pair stays the same object, so that its connections stay open.
    this.#current = { ...got, pair: isSame ? before : got.pair, headers };
    this.#gotAtMs = this.#clock.monotonicMs();
    this.#failure = undefined;
  }

  #isInteractive(): boolean {
    const { config, isTerminal = process.stdin.isTTY === true } = this.#options;
    if (config.interactiveMode === 'Always' && !isTerminal) {
      throw pluginError(
        config,
        'requires interactive input (interactiveMode Always), but standard input is not a terminal',
      );
    }
    return config.interactiveMode !== 'Never' && isTerminal;
  }
}
