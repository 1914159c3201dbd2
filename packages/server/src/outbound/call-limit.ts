/** Limits the calls that are under way at the same time. Others wait for their turn, in order, until their deadline or abort. */

import type { Clock } from '@hangar/core';
import { OutboundError } from './errors.ts';

export class CallLimit {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /**
   * Undefined: the call may begin. Rejects with `Timeout` when its turn does not come in time, with `Aborted` when the signal
   * aborts first. Each turn ends with `leave`.
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
      this.#waiting.add(begin);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running--;
      return;
    }
    next();
  }
}

const aborted = (): OutboundError => new OutboundError('Aborted', 'context canceled');
