/**
 * Decides whether and when a request is resent. As in client-go: a response with 429 or 5xx and `Retry-After` is retried. Without that
 * header it is final: an eviction that a budget rejects is a 429, too. A request that was certainly not read is always resent; one with an
 * unknown outcome only if it reads.
 */

import { backOffMs, hasCode, sleep } from '@hangar/core';
import type { BackOff, Clock, Random } from '@hangar/core';
import type { HttpAnswer, HttpRequest } from '../transport/contract.ts';
import type { RetryOptions } from './options.ts';

export class RetryPolicy {
  readonly #refusedMax: number;
  readonly #retryAfterMaxMs: number;
  readonly #brokenMax: number;
  readonly #backOff: BackOff;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: RetryOptions | false, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    const given = options || { refusedMax: 0, brokenMax: 0 };
    this.#refusedMax = given.refusedMax ?? 10;
    this.#retryAfterMaxMs = given.retryAfterMaxMs ?? 60_000;
    this.#brokenMax = given.brokenMax ?? 4;
    this.#backOff = { baseMs: given.delayMs ?? 100, maxMs: given.delayMaxMs ?? 5_000 };
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns undefined if the response is final. `tried`: number of rejected attempts before. */
  delayAfterAnswer(answer: HttpAnswer, tried: number): number | undefined {
    if (tried >= this.#refusedMax || !(answer.status === 429 || (answer.status >= 500 && answer.status < 600))) return;
    const afterMs = this.#retryAfterMs(answer.header('retry-after'));
    if (afterMs === undefined || afterMs > this.#retryAfterMaxMs) return;
    // Jitter: requests that were rejected together must not return together.
    return Math.max(afterMs, this.#backOff.baseMs) * (1 + this.#random.fraction() / 4);
  }

  /** Returns undefined if the error goes to the caller. */
  delayAfterError(error: unknown, { method, upload }: HttpRequest, tried: number): number | undefined {
    if (tried >= this.#brokenMax || upload) return undefined;
    const isSafe = hasCode(error, 'ConnectionFailed') || (hasCode(error, 'ConnectionLost') && isRead(method));
    return isSafe ? backOffMs(this.#backOff, tried + 1, this.#random) : undefined;
  }

  /** Keeps the process alive meanwhile: a program with a single request must not exit silently during the wait. */
  async wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const alive = setInterval(() => {}, 2 ** 30);
    try {
      await sleep(this.#clock, delayMs, signal);
    } finally {
      clearInterval(alive);
    }
  }

  /** Parses seconds or a date (RFC 9110, 10.2.3). */
  #retryAfterMs(value: string | undefined): number | undefined {
    if (value === undefined) return undefined;
    if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
    const at = Date.parse(value);
    return Number.isNaN(at) ? undefined : Math.max(0, at - this.#clock.now());
  }
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
