/** Ages and durations as `kubectl get` shows them: two or three significant figures, `<unknown>` and `<invalid>`. */

import { parseTime, zeroTimeSeconds } from '../values/time.ts';

/** Go counts durations in int64 nanoseconds, and differences of times stop there: about 292 years. */
const durationMaxMs = Number(2n ** 63n / 1_000_000n);

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayHours = 24;
const yearHours = 365 * dayHours;

export function humanDuration(durationMs: number): string {
  const ms = Math.max(-durationMaxMs, Math.min(durationMaxMs, durationMs));
  const seconds = Math.trunc(ms / 1000);
  // Clocks of two machines differ a little: a time just ahead of ours counts as now.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / minuteMs);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(ms / hourMs);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 2 * dayHours) return `${hours}h`;
  const days = Math.trunc(hours / dayHours);
  if (hours < 8 * dayHours) return withRest(days, 'd', hours % dayHours, 'h');
  if (hours < 2 * yearHours) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < 8 * yearHours ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

const withRest = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;

export type Timestamp = string | null | undefined;

/** Returns milliseconds since 1970; undefined for an absent time, and for Go's zero time. Throws InvalidValue. */
export function timeMs(timestamp: Timestamp): number | undefined {
  if (timestamp === undefined || timestamp === null) return undefined;
  const { seconds, nanos } = parseTime(timestamp, 'second');
  return seconds === zeroTimeSeconds && nanos === 0 ? undefined : seconds * 1000 + nanos / 1_000_000;
}

/** Formats the time since then. */
export function since(timestamp: Timestamp, now: number): string {
  const then = timeMs(timestamp);
  return then === undefined ? '<unknown>' : humanDuration(now - then);
}

export const ageOf = (object: { readonly metadata: { readonly creationTimestamp?: Timestamp } }, now: number): string =>
  since(object.metadata.creationTimestamp, now);
