/** Looks how much memory programs use, all of them in one go. */

import type { Clock } from '@hangar/core';
import { residentBytes } from './processes.ts';
import { Ticker } from './ticker.ts';

const everyMs = 2_000;

export class MemoryWatch {
  readonly #ticker: Ticker;

  constructor(clock: Clock) {
    this.#ticker = new Ticker(clock, everyMs);
  }

  /** Says so at every look at which the process uses more. Returns the way to end that. */
  watch(pid: number, limitBytes: number, above: (usedBytes: number) => void): () => void {
    return this.#ticker.add(() => {
      const usedBytes = residentBytes(pid);
      if (usedBytes !== undefined && usedBytes > limitBytes) above(usedBytes);
    });
  }
}
