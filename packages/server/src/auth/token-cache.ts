/**
 * Caches verified tokens: verification costs a hundred times as much as a lookup. Keyed by a salted digest, so that the cache contains
 * neither tokens nor precomputable values. Concurrent requests for one token share one verification.
 *
 * As in kube-apiserver, successes are cached for ten seconds and failures are not: a rejected token may become valid when its account or
 * secret is created.
 */

import { hash } from 'node:crypto';
import type { Clock, Random } from '@hangar/core';
import { isPromise } from './promise.ts';
import type { Proven, TokenUnion } from './tokens.ts';

export interface TokenCacheOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly successMs?: number;
  /** 0: failures are not cached. */
  readonly failureMs?: number;
  readonly entriesMax?: number;
}

/** A result and its expiry. */
export interface Remembered {
  /** Undefined: rejected. */
  readonly identity: Proven;
  readonly error: unknown;
  /** Expiry on the monotonic clock. */
  readonly untilMs: number;
}

const defaultSuccessMs = 10_000;
const defaultEntriesMax = 16_384;

export class TokenCache {
  readonly #inner: Pick<TokenUnion, 'authenticateToken'>;
  readonly #clock: Clock;
  readonly #salt: string;
  readonly #successMs: number;
  readonly #failureMs: number;
  readonly #entriesMax: number;
  /** By digest, in insertion order. */
  readonly #known = new Map<string, Remembered>();
  readonly #asking = new Map<string, Promise<Remembered>>();

  constructor(inner: Pick<TokenUnion, 'authenticateToken'>, options: TokenCacheOptions) {
    this.#inner = inner;
    this.#clock = options.clock;
    this.#salt = Buffer.from(options.random.bytes(32)).toString('base64');
    this.#successMs = options.successMs ?? defaultSuccessMs;
    this.#failureMs = options.failureMs ?? 0;
    this.#entriesMax = options.entriesMax ?? defaultEntriesMax;
  }

  authenticateToken(token: string, audiences: readonly string[]): Proven | Promise<Proven> {
    const found = this.remembered(token, audiences);
    return isPromise(found) ? found.then(outcomeOf) : outcomeOf(found);
  }

  /** Returns the result with the time until which callers may cache it. */
  remembered(token: string, audiences: readonly string[]): Remembered | Promise<Remembered> {
    const digest = this.#digest(token, audiences);
    const known = this.#known.get(digest);
    if (known) {
      if (this.isGood(known)) return known;
      this.#known.delete(digest);
    }
    return this.#asking.get(digest) ?? this.#ask(digest, token, audiences);
  }

  isGood({ untilMs, identity }: Remembered): boolean {
    return this.#clock.monotonicMs() < untilMs && (identity?.isCurrent === undefined || identity.isCurrent());
  }

  #ask(digest: string, token: string, audiences: readonly string[]): Remembered | Promise<Remembered> {
    try {
      const outcome = this.#inner.authenticateToken(token, audiences);
      if (!isPromise(outcome)) return this.#keep(digest, outcome, undefined);
      const asking = outcome
        .then(
          (identity) => this.#keep(digest, identity, undefined),
          (error: unknown) => this.#keep(digest, undefined, error),
        )
        .finally(() => this.#asking.delete(digest));
      this.#asking.set(digest, asking);
      return asking;
    } catch (error) {
      return this.#keep(digest, undefined, error);
    }
  }

  #keep(digest: string, identity: Proven, error: unknown): Remembered {
    const leftMs = (identity?.expiresAt ?? Infinity) - this.#clock.now();
    const forMs = Math.min(identity ? this.#successMs : this.#failureMs, leftMs);
    const record = { identity, error, untilMs: this.#clock.monotonicMs() + forMs };
    if (forMs > 0) {
      this.#known.set(digest, record);
      if (this.#known.size > this.#entriesMax) this.#known.delete(this.#known.keys().next().value!);
    }
    return record;
  }

  #digest(token: string, audiences: readonly string[]): string {
    // Lengths come first, so that different inputs cannot produce the same text.
    const lengths = [token, ...audiences].map(({ length }) => length).join(' ');
    return hash('sha256', `${this.#salt} ${lengths}\n${token}${audiences.join('')}`, 'base64');
  }
}

function outcomeOf({ identity, error }: Remembered): Proven {
  if (error !== undefined) throw error;
  return identity;
}
