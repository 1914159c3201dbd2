/**
 * SIGINT and SIGTERM: the first asks everything to end in good order, and the process ends with 0; the second ends it at once, with 1.
 * Who is asked to end while it still starts ends as soon as it has started.
 */

import { systemClock } from '@hangar/core';

const names = ['SIGINT', 'SIGTERM'] as const;
/** One Ctrl-C comes more than once: from the terminal to all processes of it, and from npm, which hands it on. */
const sameMs = 300;

export class StopSignals {
  #firstMs: number | undefined;
  #stop: (() => Promise<void>) | undefined;

  constructor() {
    for (const name of names) process.on(name, () => this.#received());
  }

  get isStopping(): boolean {
    return this.#firstMs !== undefined;
  }

  /** `stop` must not reject. */
  onStop(stop: () => Promise<void>): void {
    this.#stop = stop;
    if (this.isStopping) void this.#end();
  }

  #received(): void {
    const nowMs = systemClock.monotonicMs();
    if (this.#firstMs !== undefined) {
      if (nowMs - this.#firstMs >= sameMs) process.exit(1);
      return;
    }
    this.#firstMs = nowMs;
    void this.#end();
  }

  async #end(): Promise<void> {
    if (!this.#stop) return;
    await this.#stop();
    process.exit(0);
  }
}
