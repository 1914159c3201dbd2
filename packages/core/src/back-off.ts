/** Delay after consecutive failures: doubling, bounded, and jittered. */

import type { Random } from './random.ts';

export interface BackOff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** `failures` counts from 1. Between half of the delay and all of it. */
export function backOffMs({ baseMs, maxMs }: BackOff, failures: number, random: Random): number {
  const delayMs = Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30));
  return delayMs * (0.5 + random.fraction() / 2);
}
