/** The diary of a simulated world. Line numbers are its logical clock: what has a smaller one happened before. */

import { crc32 } from 'node:zlib';
import type { Clock } from '@hangar/core';

export interface Moment {
  readonly line: number;
  readonly ms: number;
}

export class Trace {
  readonly #clock: Clock;
  readonly #lines: { ms: number; text: string }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get length(): number {
    return this.#lines.length;
  }

  add(text: string): Moment {
    const ms = this.#clock.monotonicMs();
    this.#lines.push({ ms, text });
    return { line: this.#lines.length - 1, ms };
  }

  /** Up to `count` lines that end with `line`. */
  until(line: number, count: number): string[] {
    const end = Math.min(line, this.#lines.length - 1) + 1;
    const start = Math.max(0, end - count);
    return this.#lines.slice(start, end).map(({ ms, text }, at) => `${start + at}  ${ms.toFixed(2)} ms  ${text}`);
  }

  /** Two runs with the same hash did the same things at the same times. */
  hash(): string {
    let hash = 0;
    for (const { ms, text } of this.#lines) hash = crc32(`${ms} ${text}`, hash);
    return hash.toString(16).padStart(8, '0');
  }
}
