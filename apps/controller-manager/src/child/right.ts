/** Computes how long a program may run without a heartbeat: the remaining time of the ownership, less the time that signals take. */

import type { ProgramOptions } from './contract.ts';
import { ProgramError } from './errors.ts';

/** The program is killed this much before the ownership expires. */
const marginMs = 300;
const vouchMaxMs = 3_600_000;

/** Returns a positive number. Throws `Fenced` when no time is left. */
export function leftMsOf(ownership: ProgramOptions['ownership']): number {
  ownership.check();
  const leftMs = Math.min(ownership.remainingMs(), vouchMaxMs) - marginMs;
  if (leftMs > 0) return leftMs;
  throw new ProgramError('Fenced', 'the ownership of the cluster is about to expire');
}
