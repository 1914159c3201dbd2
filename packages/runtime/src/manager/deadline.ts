/** The deadline of a shutdown. */

import type { Clock, Timer } from '@hangar/core';

export class Deadline {
  readonly #clock: Clock;
  readonly #endMs: number;
  readonly #passed = Promise.withResolvers<void>();
  readonly #timer: Timer;
  readonly #force: AbortSignal | undefined;
  readonly #onForce = (): void => this.#passed.resolve();

  /** Expires early when `force` is aborted. */
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

  /** Waits until the promise has settled, or the deadline has passed. */
  async wait(promise: Promise<unknown>): Promise<void> {
    await Promise.race([promise.catch(() => {}), this.#passed.promise]);
  }

  close(): void {
    this.#timer.cancel();
    this.#force?.removeEventListener('abort', this.#onForce);
  }
}
