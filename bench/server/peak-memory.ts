/** Samples the resident size of a process. */

import { residentMiB } from './processes.ts';

const sampleEveryMs = 50;

export class PeakMemory implements Disposable {
  readonly #startMiB: number;
  readonly #timer: NodeJS.Timeout;
  #highestMiB: number;

  constructor(pid: number) {
    this.#startMiB = this.#highestMiB = residentMiB([pid]);
    this.#timer = setInterval(() => (this.#highestMiB = Math.max(this.#highestMiB, residentMiB([pid]))), sampleEveryMs);
  }

  /** The largest size so far, without the size at the start. */
  get growthMiB(): number {
    return this.#highestMiB - this.#startMiB;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
