/** Limits the calls that are under way at the same time. Others wait for their turn, in order, until their own deadline. */

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

  /** Undefined: the call may begin. Rejects with `Timeout` when its turn does not come in time. Each turn ends with `leave`. */
  enter(clock: Clock, timeoutMs: number): Promise<void> | undefined {
    if (this.#running < this.#max) {
      this.#running++;
      return undefined;
    }
    if (this.#waiting.size >= this.#waitingMax) {
      throw new OutboundError('Unreachable', `more than ${this.#waitingMax} calls are waiting`);
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        timer.cancel();
        resolve();
      };
      const timer = clock.after(timeoutMs, () => {
        this.#waiting.delete(begin);
        reject(new OutboundError('Timeout', 'context deadline exceeded'));
      });
      this.#waiting.add(begin);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
