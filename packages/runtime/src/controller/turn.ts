/**
 * Limits the use of a turn of the event loop: reconcilers that never wait would otherwise block timers and I/O for as long as there are
 * requests.
 */

import type { Clock, Timer } from '@hangar/core';

const runsMax = 256;
const durationMaxMs = 10;

export class Turn {
  readonly #clock: Clock;
  readonly #onNext: () => void;
  #runs = 0;
  #beganMs: number;
  #next: Timer | undefined;

  /** `onNext` is called at the start of each requested turn. */
  constructor(clock: Clock, onNext: () => void) {
    this.#clock = clock;
    this.#onNext = onNext;
    this.#beganMs = clock.monotonicMs();
  }

  /** Returns false when the budget of this turn is used; another turn is then requested. */
  enter(): boolean {
    if (this.#runs < runsMax && this.#clock.monotonicMs() - this.#beganMs < durationMaxMs) {
      this.#runs++;
      return true;
    }
    this.askForNext();
    return false;
  }

  askForNext(): void {
    this.#next ??= this.#clock.soon(() => {
      this.#next = undefined;
      this.#runs = 0;
      this.#beganMs = this.#clock.monotonicMs();
      this.#onNext();
    });
  }

  stop(): void {
    this.#next?.cancel();
    this.#next = undefined;
  }
}
