/** Runnables that start and stop together. A runnable that is added to a running group starts at once; to a stopped group, never. */

import { asError } from '@hangar/core';
import { isAbort, runnableName } from './runnable.ts';
import type { Runnable } from './runnable.ts';

export interface GroupOptions {
  readonly name: string;
  /** Called when a runnable failed. `isEnding` is false if it failed before `stop`. */
  onFailure(error: Error, runnable: string, isEnding: boolean): void;
}

export class Group {
  readonly name: string;
  readonly #onFailure: GroupOptions['onFailure'];
  readonly #stop = new AbortController();
  readonly #waiting: Runnable[] = [];
  readonly #running = new Set<Runnable>();
  readonly #onEnded: (() => void)[] = [];
  #isStarted = false;

  constructor({ name, onFailure }: GroupOptions) {
    this.name = name;
    this.#onFailure = onFailure;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Names of running runnables. */
  get running(): string[] {
    return Array.from(this.#running, runnableName);
  }

  add(runnable: Runnable): void {
    if (this.#isStarted) void this.#run(runnable);
    else this.#waiting.push(runnable);
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const runnable of this.#waiting.splice(0)) void this.#run(runnable);
  }

  /** Aborts the signal of all runnables, and starts no others. */
  stop(reason?: unknown): void {
    this.#isStarted = true;
    this.#waiting.length = 0;
    this.#stop.abort(reason);
  }

  /** Resolves when all runnables have returned after `stop`. */
  ended(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEnded.push(resolve));
  }

  /** Never rejects. */
  async #run(runnable: Runnable): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    this.#running.add(runnable);
    try {
      await runnable.start(signal);
    } catch (error) {
      if (!(signal.aborted && isAbort(error))) this.#onFailure(asError(error), runnableName(runnable), signal.aborted);
    } finally {
      this.#running.delete(runnable);
      if (this.#running.size === 0) for (const resolve of this.#onEnded.splice(0)) resolve();
    }
  }
}
