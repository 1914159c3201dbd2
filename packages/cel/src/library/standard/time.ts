/** Parts of timestamps (in UTC or a named time zone) and totals of durations. */

import { fail } from '../../errors.ts';
import { method } from '../../environment.ts';
import type { Library, Overload } from '../../environment.ts';
import * as t from '../../types.ts';
import { canonical } from '../../values/integers.ts';
import { splitNanos } from '../../values/time.ts';
import type { Duration, Timestamp } from '../../values/values.ts';
import { work } from '../../work.ts';

const day = 86_400_000;
const parts: Readonly<Record<string, { id: string; read: (date: Date, nanos: number) => number }>> = {
  getFullYear: { id: 'year', read: (date) => date.getUTCFullYear() },
  getMonth: { id: 'month', read: (date) => date.getUTCMonth() },
  getDate: { id: 'day_of_month_1_based', read: (date) => date.getUTCDate() },
  getDayOfMonth: { id: 'day_of_month', read: (date) => date.getUTCDate() - 1 },
  getDayOfWeek: { id: 'day_of_week', read: (date) => date.getUTCDay() },
  getDayOfYear: {
    id: 'day_of_year',
    read: (date) => Math.floor((date.getTime() - startOfYear(date.getUTCFullYear())) / day),
  },
  getHours: { id: 'hours', read: (date) => date.getUTCHours() },
  getMinutes: { id: 'minutes', read: (date) => date.getUTCMinutes() },
  getSeconds: { id: 'seconds', read: (date) => date.getUTCSeconds() },
  getMilliseconds: { id: 'milliseconds', read: (_date, nanos) => Math.floor(nanos / 1_000_000) },
};

const durationUnits: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

function startOfYear(year: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, 0, 1);
  return date.getTime();
}

const formattersMax = 100;
const nsPerZone = 100_000;
const nsPerLocalTime = 5_000;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Returns the offset of the zone from UTC at that moment, in milliseconds. */
function zoneOffset(zone: string, epochMs: number): number {
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  if (zone === '' || zone === 'UTC') return 0;
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    work(nsPerZone);
    try {
      const numeric = 'numeric';
      const fields = {
        year: numeric,
        month: numeric,
        day: numeric,
        hour: numeric,
        minute: numeric,
        second: numeric,
      } as const;
      formatter = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
        timeZone: zone,
        hourCycle: 'h23',
        era: 'short',
        ...fields,
      });
    } catch {
      return fail(`unknown time zone ${zone}`);
    }
    // Names of zones are not case-sensitive: there are more spellings than zones.
    if (formatters.size >= formattersMax) formatters.clear();
    formatters.set(zone, formatter);
  }
  work(nsPerLocalTime);
  const found: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(epochMs)) found[type] = Number(value);
  const local = new Date(0);
  local.setUTCFullYear(found['year'] ?? 0, (found['month'] ?? 1) - 1, found['day'] ?? 1);
  local.setUTCHours(found['hour'] ?? 0, found['minute'] ?? 0, found['second'] ?? 0);
  return local.getTime() - epochMs;
}

function timestampPart(read: (date: Date, nanos: number) => number, timestamp: Timestamp, zone = ''): number {
  const { seconds, nanos } = splitNanos(timestamp.nanos);
  const epochMs = seconds * 1000;
  return read(new Date(epochMs + zoneOffset(zone, epochMs)), nanos);
}

function overloadsOf(name: string): Overload[] {
  const { id, read } = parts[name]!;
  const found = [
    method(`timestamp_to_${id}`, [t.timestampType], t.intType, (a: Timestamp) => timestampPart(read, a)),
    method(`timestamp_to_${id}_with_tz`, [t.timestampType, t.stringType], t.intType, (a: Timestamp, zone: string) =>
      timestampPart(read, a, zone),
    ),
  ];
  const unit = durationUnits[name];
  if (unit !== undefined) {
    found.push(method(`duration_to_${id}`, [t.durationType], t.intType, (a: Duration) => canonical(a.nanos / unit)));
  } else if (name === 'getMilliseconds') {
    const milliseconds = (a: Duration) => canonical((a.nanos / 1_000_000n) % 1000n);
    found.push(method('duration_to_milliseconds', [t.durationType], t.intType, milliseconds));
  }
  return found;
}

/** Kubernetes' interpreter returns a duration's total milliseconds, while the specification requires those of the second. */
export const totalMilliseconds: Library = {
  name: 'total milliseconds',
  functions: {
    getMilliseconds: [
      method('duration_to_milliseconds', [t.durationType], t.intType, (a: Duration) => canonical(a.nanos / 1_000_000n)),
    ],
  },
};

export const time: Library = {
  name: 'time',
  functions: Object.fromEntries(Object.keys(parts).map((name) => [name, overloadsOf(name)])),
};
