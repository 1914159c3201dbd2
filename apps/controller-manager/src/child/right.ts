/** For how long a program may run without news: as long as the right to run it can be proven, less what signals take. */

import type { ProgramOptions } from './contract.ts';
import { ProgramError } from './errors.ts';

/** The program is ended so much earlier than the right. */
const marginMs = 300;
const vouchMaxMs = 3_600_000;

/** More than zero. Throws `Fenced` when there is no time left. */
export function leftMsOf(ownership: ProgramOptions['ownership']): number {
  ownership.check();
  const leftMs = Math.min(ownership.remainingMs(), vouchMaxMs) - marginMs;
  if (leftMs > 0) return leftMs;
  throw new ProgramError('Fenced', 'the ownership of the cluster is about to expire');
}
