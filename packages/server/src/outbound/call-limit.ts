/**
 * Limits concurrent calls. Others wait in order, until their deadline or abort.
 *
 * A webhook may write through the server that calls it, and the server then calls the webhook for that write too. If such webhooks hold all
 * slots, each of them waits for a slot that the others hold, and no call completes. Therefore waiting calls are refused when no call has
 * completed for `stuckAfterMs`: the webhooks get an error for their writes, and respond.
 */

import type { Clock, Timer } from '@hangar/core';
import { OutboundError } from './errors.ts';

const stuckAfterMs = 3_000;

export class CallLimit {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting = new Map<() => void, (error: OutboundError) => void>();
  #running = 0;
  /** Set while calls wait. Reset when a call completes. */
  #stuck: Timer | undefined;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /**
   * Returns undefined if the call may start now. Rejects with `Timeout` if no slot becomes free in time, with `Aborted` if the signal
   * aborts first. Call `leave` after each call.
   */
  enter(clock: Clock, timeoutMs: number, signal?: AbortSignal): Promise<void> | undefined {
    if (signal?.aborted) throw aborted();
    if (this.#running < this.#max) {
      this.#running++;
      return undefined;
    }
    if (this.#waiting.size >= this.#waitingMax) {
      throw new OutboundError('Unreachable', `more than ${this.#waitingMax} calls are waiting`);
    }
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.delete(begin);
        if (this.#waiting.size === 0) this.#stuck?.cancel();
      };
      const begin = (): void => {
        stopWaiting();
        resolve();
      };
      const fail = (error: OutboundError): void => {
        stopWaiting();
        reject(error);
      };
      const onAbort = (): void => fail(aborted());
      const timer = clock.after(timeoutMs, () => fail(new OutboundError('Timeout', 'context deadline exceeded')));
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(begin, fail);
      if (this.#waiting.size === 1) this.#watch(clock);
    });
  }

  #watch(clock: Clock): void {
    this.#stuck?.cancel();
    this.#stuck = clock.after(stuckAfterMs, () => {
      const why = `${this.#max} calls of this control plane are under way, and none of them has ended for ${stuckAfterMs} ms`;
      for (const fail of this.#waiting.values()) fail(new OutboundError('Unreachable', `too many calls: ${why}`));
    });
  }

  leave(clock: Clock): void {
    const [next] = this.#waiting.keys();
    if (!next) {
      this.#running--;
      return;
    }
    next();
    if (this.#waiting.size > 0) this.#watch(clock);
  }
}

const aborted = (): OutboundError => new OutboundError('Aborted', 'context canceled');
