/** Points in time as Kubernetes writes them: RFC 3339 in UTC, to the second (Time) or the microsecond (MicroTime). */

import { invalidValue } from '../errors.ts';

/** The year 1: what Go calls the zero time, and writes as null. */
export const zeroTimeSeconds = -62_135_596_800;

export interface Instant {
  /** Since 1970, may be negative. */
  readonly seconds: number;
  readonly nanos: number;
}

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Controllers write the same few times into many fields: the last one is kept. */
let last: { text: string; precision: string; instant: Instant } | undefined;

/** Throws InvalidValue. `precision` micro demands exactly six digits, as kube-apiserver does for MicroTime. */
export function parseTime(text: string, precision: 'second' | 'micro'): Instant {
  if (last?.text === text && last.precision === precision) return last.instant;
  const instant = readTime(text, precision);
  last = { text, precision, instant };
  return instant;
}

function readTime(text: string, precision: 'second' | 'micro'): Instant {
  const match = pattern.exec(text);
  if (!match) throw badTime(text, precision);
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match;
  const y = Number(year);
  const m = Number(month);
  const d = Number(day);
  const isLeap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  const inMonth = m === 2 && !isLeap ? 28 : (daysOfMonth[m - 1] ?? 0);
  const clock = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const isPossible = d >= 1 && d <= inMonth && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  const offset = (Number(offsetHour ?? 0) * 3600 + Number(offsetMinute ?? 0) * 60) * (sign === '-' ? -1 : 1);
  if (!isPossible || Number(offsetHour ?? 0) > 24 || Number(offsetMinute ?? 0) > 59) throw badTime(text, precision);
  if (precision === 'micro' && fraction?.length !== 7) throw badTime(text, precision);
  const seconds = daysFromCivil(y, m, d) * 86_400 + clock - offset;
  const nanos = fraction === undefined ? 0 : Number(fraction.slice(1, 10).padEnd(9, '0'));
  return { seconds, nanos };
}

const elements: readonly (readonly [layout: string, text: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
  ['.000000', /^[.,]\d{6}/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
];

/** Returns Go's message: the part of the layout that the text does not match. */
function badTime(text: string, precision: 'second' | 'micro'): Error {
  const layout = precision === 'micro' ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const quoted = JSON.stringify(text);
  let rest = text;
  for (const [element, pattern] of elements) {
    if (element === '.000000' && precision === 'second') {
      rest = rest.replace(/^[.,]\d+/, '');
      continue;
    }
    const match = pattern.exec(rest);
    if (!match) {
      const where = `cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(element)}`;
      return invalidValue(`parsing time ${quoted} as ${JSON.stringify(layout)}: ${where}`);
    }
    rest = rest.slice(match[0].length);
  }
  if (rest !== '') return invalidValue(`parsing time ${quoted}: extra text: ${JSON.stringify(rest)}`);
  return invalidValue(`parsing time ${quoted}: ${outOfRange(text)} out of range`);
}

function outOfRange(text: string): string {
  if (Number(text.slice(5, 7)) < 1 || Number(text.slice(5, 7)) > 12) return 'month';
  if (Number(text.slice(11, 13)) > 23) return 'hour';
  if (Number(text.slice(14, 16)) > 59) return 'minute';
  return Number(text.slice(17, 19)) > 59 ? 'second' : 'day';
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar: `Date.UTC` would read years below 100 as 19xx. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

/** The last second that was written: the times of one object are often the same. */
let lastSecond = { seconds: 0, text: '1970-01-01T00:00:00' };

/** Undefined when the year does not have four digits, which RFC 3339 cannot write. */
export function formatTime(seconds: number, precision: 'second' | 'micro', nanos = 0): string | undefined {
  if (!(seconds >= zeroTimeSeconds - 31_622_400 && seconds < 253_402_300_800)) return undefined;
  if (seconds !== lastSecond.seconds) {
    lastSecond = { seconds, text: new Date(seconds * 1000).toISOString().slice(0, 19) };
  }
  if (precision === 'second') return `${lastSecond.text}Z`;
  return `${lastSecond.text}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}
