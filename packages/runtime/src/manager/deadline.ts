/** The time that everything together has to end. */

import type { Clock, Timer } from '@hangar/core';

export class Deadline {
  readonly #clock: Clock;
  readonly #endMs: number;
  readonly #passed = Promise.withResolvers<void>();
  readonly #timer: Timer;
  readonly #force: AbortSignal | undefined;
  readonly #onForce = (): void => this.#passed.resolve();

  /** Passes early when `force` fires. */
  constructor(clock: Clock, durationMs: number, force?: AbortSignal) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + durationMs;
    this.#timer = clock.after(durationMs, () => this.#passed.resolve());
    this.#force = force;
    force?.addEventListener('abort', this.#onForce, { once: true });
    if (force?.aborted) this.#passed.resolve();
  }

  get remainingMs(): number {
    return this.#force?.aborted ? 0 : Math.max(0, this.#endMs - this.#clock.monotonicMs());
  }

  /** Until it has settled, however, or the time is over. */
  async wait(promise: Promise<unknown>): Promise<void> {
    await Promise.race([promise.catch(() => {}), this.#passed.promise]);
  }

  close(): void {
    this.#timer.cancel();
    this.#force?.removeEventListener('abort', this.#onForce);
  }
}
