/** Timestamps and durations: their text forms, as Go reads and writes them, and their ranges. */

import { fail, notConvertible } from '../errors.ts';
import { int64Max, int64Min } from './integers.ts';
import { work } from '../work.ts';
import { Duration, Timestamp } from './values.ts';

const nsPerDurationPart = 300;

const second = 1_000_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const timestampMin = -62135596800n * second;
const timestampMax = 253402300800n * second - 1n;

export function timestampOf(nanos: bigint): Timestamp {
  return nanos < timestampMin || nanos > timestampMax ? fail('timestamp overflow') : new Timestamp(nanos);
}

export function durationOf(nanos: bigint): Duration {
  return nanos < int64Min || nanos > int64Max ? fail('duration overflow') : new Duration(nanos);
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;
const dateOnly = /^(\d{4})-(\d\d)-(\d\d)$/;

export function parseTimestamp(text: string): Timestamp {
  const match = rfc3339.exec(text) ?? (dateOnly.test(text) ? rfc3339.exec(`${text}T00:00:00Z`) : null);
  if (!match) return notConvertible('google.protobuf.Timestamp');
  const [, year, month, day, hour, minute, seconds, fraction = '', , sign, offsetHour, offsetMinute] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const valid =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(seconds) < 60 &&
    Number(offsetHour ?? 0) < 25 &&
    Number(offsetMinute ?? 0) < 60;
  if (!valid) notConvertible('google.protobuf.Timestamp');
  const offset =
    sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(offsetHour) * 3600 + Number(offsetMinute) * 60);
  const whole = date.getTime() / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(seconds) - offset;
  return timestampOf(BigInt(whole) * second + BigInt(fraction.slice(0, 9).padEnd(9, '0')));
}

/** Seconds since 1970 rounded down, and the nanoseconds above them. */
export function splitNanos(nanos: bigint): { seconds: number; nanos: number } {
  const below = ((nanos % second) + second) % second;
  return { seconds: Number((nanos - below) / second), nanos: Number(below) };
}

export function formatTimestamp(timestamp: Timestamp): string {
  const { seconds, nanos } = splitNanos(timestamp.nanos);
  const date = new Date(seconds * 1000);
  // toISOString writes years before 0 and after 9999 otherwise, which the range excludes.
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${date.toISOString().slice(0, 19)}${fraction}Z`;
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};

export function parseDuration(text: string): Duration {
  const bad = (): never => notConvertible('google.protobuf.Duration');
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  let rest = text.slice(sign.length);
  if (rest === '0') return new Duration(0n);
  if (rest === '') bad();
  let total = 0n;
  while (rest !== '') {
    work(nsPerDurationPart);
    const match = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    if (!match || ((match[1] ?? '') === '' && (match[2] ?? '') === '')) return bad();
    const [all, whole = '', fraction = '', unit = ''] = match;
    if (all.length > 64) bad();
    const scale = units[unit]!;
    total += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > int64Max + 1n) bad();
    rest = rest.slice(all.length);
  }
  if (sign === '-') total = -total;
  return total > int64Max ? bad() : new Duration(total);
}

/** Seconds with up to nine decimals: what `string(duration)` and JSON show. */
export function formatDuration(duration: Duration): string {
  const negative = duration.nanos < 0n;
  const nanos = negative ? -duration.nanos : duration.nanos;
  const fraction = nanos % second;
  const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${negative ? '-' : ''}${nanos / second}${decimals}s`;
}
