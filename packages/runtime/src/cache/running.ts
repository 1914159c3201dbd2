/** Jobs that run from the start of a cache, or from when they are added, until it stops. */

import { aborted } from '@hangar/core';
import { RuntimeError } from '../errors.ts';

export interface Runnable {
  /** Runs until the signal is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export class Running {
  #waiting: Runnable[] = [];
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  get hasStarted(): boolean {
    return this.#signal !== undefined;
  }

  add(runnable: Runnable): void {
    if (this.#signal) this.#start(runnable, this.#signal);
    else this.#waiting.push(runnable);
  }

  /** Resolves when the signal is aborted and all jobs have returned. Can be called once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal) throw new RuntimeError('InvalidOptions', 'a cache can be started only once');
    this.#signal = signal;
    for (const runnable of this.#waiting.splice(0)) this.#start(runnable, signal);
    await aborted(signal);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(runnable: Runnable, signal: AbortSignal): void {
    const running = runnable.run(signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
