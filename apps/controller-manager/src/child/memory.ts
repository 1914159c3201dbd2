/** Measures the memory of all programs in one pass. */

import type { Clock } from '@hangar/core';
import { residentBytes } from '@hangar/programs';
import { Ticker } from './ticker.ts';

const everyMs = 2_000;

export class MemoryWatch {
  readonly #ticker: Ticker;

  constructor(clock: Clock) {
    this.#ticker = new Ticker(clock, everyMs);
  }

  /** Calls `above` at every measurement at which the process uses more. Returns a function that stops it. */
  watch(pid: number, limitBytes: number, above: (usedBytes: number) => void): () => void {
    return this.#ticker.add(() => {
      const usedBytes = residentBytes(pid);
      if (usedBytes !== undefined && usedBytes > limitBytes) above(usedBytes);
    });
  }
}
