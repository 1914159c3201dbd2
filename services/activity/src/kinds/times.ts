/** Times of queries: RFC 3339, or relative to now: `now`, `now-7d`. */

import { microsecondsOf } from '../events/event.ts';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns microseconds since 1970; undefined if the text is not a time. */
export function timeOf(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs * 1_000;
  const relative = /^now-(\d{1,6})([smhdw])$/.exec(text);
  if (relative) return (nowMs - Number(relative[1]) * unitsMs[relative[2]!]!) * 1_000;
  return microsecondsOf(text);
}
