/** Authenticates and authorizes incoming requests. Synchronous if the result is known. */

import { unauthorized } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { AuditRecord } from '../audit/auditor.ts';
import type { ServerRequest } from '../http/message.ts';
import type { AccessMetrics } from '../metrics/access-metrics.ts';
import type { RequestInfo } from '../request/info.ts';
import { isPublicPath } from '../request/public-paths.ts';
import { anonymousHealth } from './anonymous.ts';
import type { AnonymousAccess } from './anonymous.ts';
import type { Judgement } from './authorize.ts';
import { forbidden } from './forbidden.ts';
import type { Guard } from './guard.ts';
import { isPromise } from './promise.ts';
import { anonymous, certificateExpiry } from './user.ts';
import type { User } from './user.ts';
import type { Visibility } from './visibility.ts';

/** Returns the error for a request with unknown credentials; undefined: 401, or anonymous access. */
export type StrangerRefusal = (request: ServerRequest) => StatusError | undefined;

const isRead = (verb: string): boolean => verb === 'get' || verb === 'head';

export interface Authorizing {
  readonly audit: AuditRecord | undefined;
  /** Monotonic time at which authorization starts; 0: now. */
  readonly authorizesMs: number;
}

export interface EntranceOptions {
  readonly guard: Guard;
  /** The paths that allow anonymous requests; absent: only health and version. */
  readonly isLetIn?: AnonymousAccess | undefined;
  readonly refusal?: StrangerRefusal | undefined;
  readonly clock: Clock;
  readonly metrics: AccessMetrics;
}

export class Entrance {
  readonly #guard: Guard;
  readonly #isLetIn: AnonymousAccess;
  readonly #refusal: StrangerRefusal | undefined;
  readonly #clock: Clock;
  readonly #metrics: AccessMetrics;
  /** Difference between the wall clock and the monotonic clock: reading both for each request takes time. */
  readonly #offsetMs: number;
  #authenticatedMs = 0;

  constructor({ guard, isLetIn = anonymousHealth, refusal, clock, metrics }: EntranceOptions) {
    this.#guard = guard;
    this.#isLetIn = isLetIn;
    this.#refusal = refusal;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#offsetMs = clock.now() - clock.monotonicMs();
  }

  /** Monotonic time at which the last request was authenticated. */
  get authenticatedMs(): number {
    return this.#authenticatedMs;
  }

  /** Throws or rejects with 401, or with the error of `refusal`. `startedMs`: the monotonic time at which the request arrived. */
  authenticate(request: ServerRequest, path: string, startedMs: number): User | Promise<User> {
    let identifying: User | undefined | Promise<User | undefined>;
    try {
      identifying = this.#guard.identify(request);
    } catch (error) {
      this.#metrics.notAuthenticated('error', this.#clock.monotonicMs() - startedMs);
      throw error;
    }
    if (!isPromise(identifying)) return this.#identified(identifying, request, path, startedMs);
    return identifying.then(
      (user) => this.#identified(user, request, path, startedMs),
      (error: unknown) => {
        this.#metrics.notAuthenticated('error', this.#clock.monotonicMs() - startedMs);
        throw error;
      },
    );
  }

  #identified(user: User | undefined, request: ServerRequest, path: string, startedMs: number): User {
    const nowMs = this.#clock.monotonicMs();
    this.#authenticatedMs = nowMs;
    const ms = nowMs - startedMs;
    const known = user ?? this.#stranger(request, path, ms);
    this.#metrics.authenticated(known.name, ms);
    const { certificate, unverified } = request.peer;
    if (user && (certificate || unverified)) {
      const expiresAt = certificate?.expiresAt ?? certificateExpiry(user);
      if (expiresAt !== undefined) this.#metrics.certificateUsed((expiresAt - this.#offsetMs - nowMs) / 1_000);
    }
    return known;
  }

  #stranger(request: ServerRequest, path: string, ms: number): User {
    const refusal = this.#refusal?.(request);
    if (refusal) {
      this.#metrics.notAuthenticated('failure', ms);
      throw refusal;
    }
    // Invalid credentials are rejected even where none are needed.
    if (this.#isLetIn(path, request) && request.header('authorization') === undefined) return anonymous;
    this.#metrics.notAuthenticated('failure', ms);
    throw unauthorized();
  }

  /** Returns the objects that the request is limited to; undefined: all. Throws or rejects with 403. */
  authorize(
    user: User,
    info: RequestInfo,
    { audit, authorizesMs }: Authorizing,
  ): Visibility | undefined | Promise<Visibility | undefined> {
    if (!info.isResource && isRead(info.verb) && isPublicPath(info.path)) {
      audit?.decided('allow', '');
      return undefined;
    }
    const beforeMs = authorizesMs || this.#clock.monotonicMs();
    const judging = this.#guard.judgeLimited(user, info);
    if (judging instanceof Promise) {
      return judging.then((judgement) => {
        this.#count(judgement, beforeMs);
        return insistOn(user, info, judgement, audit);
      });
    }
    this.#count(judging, beforeMs);
    return insistOn(user, info, judging, audit);
  }

  #count({ decision, error }: Judgement, beforeMs: number): void {
    const result = decision === 'allow' ? 'allowed' : error ? 'error' : decision === 'deny' ? 'denied' : 'no-opinion';
    this.#metrics.authorized(result, this.#clock.monotonicMs() - beforeMs);
  }
}

function insistOn(
  user: User,
  info: RequestInfo,
  { decision, reason, error, visibility }: Judgement,
  audit: AuditRecord | undefined,
): Visibility | undefined {
  audit?.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
  if (decision === 'allow') return visibility;
  throw error ?? forbidden(user, info, reason);
}
