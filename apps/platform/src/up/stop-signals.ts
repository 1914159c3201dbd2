/**
 * Stops the process in good order: by SIGINT, SIGTERM or SIGHUP with exit code 0, or by a call. A second signal ends the process at once
 * with exit code 1. A stop that comes during the start happens as soon as the start is complete.
 */

import { systemClock } from '@hangar/core';

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One Ctrl-C comes more than once: from the terminal to its process group, and from npm, which passes it on. */
const sameMs = 300;

export class StopSignals {
  #firstMs: number | undefined;
  #exitCode = 0;
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

  /** Stops without a signal. Does nothing when it is stopping already. */
  stop(exitCode: number): void {
    if (this.isStopping) return;
    this.#exitCode = exitCode;
    this.#received();
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
    process.exit(this.#exitCode);
  }
}
