/** Reports whether a validity period includes the current time, and how much of it remains. */

import { bad, doubtful, good } from './finding.ts';
import type { Finding } from './finding.ts';

export interface Life {
  /** All in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** Suggested action when it has expired. */
  readonly next: string;
}

const dayMs = 86_400_000;
const soonMs = 14 * dayMs;

export function lifeOf(what: string, { from, to, now, next }: Life): Finding {
  if (Number.isNaN(from) || Number.isNaN(to)) return doubtful(`${what} has no period of validity`);
  const days = Math.floor(Math.abs(to - now) / dayMs);
  if (now >= to) return bad(`${what} expired ${days} days ago`, next);
  if (now < from)
    return bad(`${what} is not valid before ${new Date(from).toISOString()}`, 'check the clock of this machine');
  const left = `${what} is valid for ${days} more days`;
  return to - now < soonMs ? doubtful(left, next) : good(left);
}
