/** `'%s is %.2f'.format([…])`: clauses s, d, f, e, b, x, X, o. */

import { fail } from '../../errors.ts';
import { CelList } from '../../values/list.ts';
import { CelMap } from '../../values/map.ts';
import { formatDouble, limited } from '../../values/text.ts';
import { formatDuration, formatTimestamp } from '../../values/time.ts';
import { Double, Duration, Timestamp, TypeValue, typeNameOf, Uint } from '../../values/values.ts';
import type { CelValue } from '../../values/values.ts';
import { allocate, nodeBytes, work } from '../../work.ts';

const precisionMax = 1000;

/** Differences between versions of the library. */
export interface FormatDialect {
  readonly any: (value: CelValue) => string;
  readonly decimal: (value: CelValue) => string;
  readonly fixed: (value: CelValue, precision: number) => string;
  readonly scientific: (value: CelValue, precision: number) => string;
}

const specification: FormatDialect = {
  any: formatAny,
  decimal: formatDecimal,
  fixed: (value, precision) => special(value) ?? fixedPoint(value, precision),
  scientific: (value, precision) => special(value) ?? scientific(value, precision),
};

export function formatString(text: string, args: CelList, dialect: FormatDialect = specification): string {
  let result = '';
  let next = 0;
  for (let at = 0; at < text.length;) {
    const percent = text.indexOf('%', at);
    if (percent === -1) return result + text.slice(at);
    result += text.slice(at, percent);
    if (text[percent + 1] === '%') {
      result += '%';
      at = percent + 2;
      continue;
    }
    const clause = /^%(?:\.(\d{1,4}))?([a-zA-Z]?)/.exec(text.slice(percent, percent + 16))!;
    const [all, precision, letter = ''] = clause;
    if (letter === '') fail('could not parse formatting clause: unexpected end of string');
    if (next >= args.size) fail(`index ${next} out of range`);
    work(nsPerClause);
    result += formatOne(dialect, letter, precision === undefined ? 6 : Number(precision), args.at(next));
    // A short text can repeat long values: the result is bounded too.
    limited(result.length);
    next += 1;
    at = percent + all.length;
  }
  return result;
}

export const wrong = (message: string, value: CelValue): never =>
  fail(`error during formatting: ${message}, was given ${typeNameOf(value)}`);

function formatOne(dialect: FormatDialect, letter: string, precision: number, value: CelValue): string {
  if (precision > precisionMax) fail('could not parse formatting clause: precision out of range');
  switch (letter) {
    case 's':
      return dialect.any(value);
    case 'd':
      return dialect.decimal(value);
    case 'f':
      return dialect.fixed(value, precision);
    case 'e':
      return dialect.scientific(value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integer(value, 'only integers and bools can be formatted as binary').toString(2);
    case 'o':
      return integer(value, 'octal clause can only be used on integers').toString(8);
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    default:
      return fail(`could not parse formatting clause: unrecognized formatting clause "${letter}"`);
  }
}

export function integer(value: CelValue, message: string): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  return value instanceof Uint ? value.value : wrong(message, value);
}

function formatDecimal(value: CelValue): string {
  if (value instanceof Double) return special(value) ?? formatDouble(value.value);
  return String(integer(value, 'decimal clause can only be used on numbers'));
}

function hexadecimal(value: CelValue): string {
  reportFormatted(value);
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integer(value, 'only integers, byte buffers, and strings can be formatted as hex').toString(16);
}

/** Names of values that are not numbers; also accepted as text. */
function special(value: CelValue): string | undefined {
  if (!(value instanceof Double) || Number.isFinite(value.value)) return undefined;
  return Number.isNaN(value.value) ? 'NaN' : value.value > 0 ? 'Infinity' : '-Infinity';
}

function numberOf(value: CelValue, clause: string): number {
  if (value instanceof Double) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return wrong(`${clause} clause can only be used on doubles`, value);
}

/** Formats exact decimal digits, a half rounded to even, as C and Go do; toFixed rounds halves up and stops at 100. */
export function fixedPoint(value: CelValue, precision: number): string {
  const number =
    typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : numberOf(value, 'fixed-point');
  const { mantissa, halvings } = typeof number === 'bigint' ? { mantissa: number, halvings: 0n } : exactDouble(number);
  const scaled = (mantissa < 0n ? -mantissa : mantissa) * 10n ** BigInt(precision);
  let digits = scaled >> halvings;
  const rest = scaled - (digits << halvings);
  const half = halvings === 0n ? 1n : 1n << (halvings - 1n);
  if (halvings > 0n && (rest > half || (rest === half && digits % 2n === 1n))) digits += 1n;
  const text = digits.toString().padStart(precision + 1, '0');
  const body = precision === 0 ? text : `${text.slice(0, -precision)}.${text.slice(-precision)}`;
  return mantissa < 0n || Object.is(number, -0) ? `-${body}` : body;
}

/** Returns a finite double as an integer and a number of halvings. */
function exactDouble(value: number): { mantissa: bigint; halvings: bigint } {
  let halvings = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    halvings += 1;
  }
  return { mantissa: BigInt(scaled), halvings: BigInt(halvings) };
}

export function scientific(value: CelValue, precision: number): string {
  const number = numberOf(value, 'scientific');
  const [mantissa = '', exponent = ''] = number.toExponential(Math.min(precision, 100)).split('e');
  return `${mantissa}e${exponent[0]!}${exponent.slice(1).padStart(2, '0')}`;
}

/** Reports the formatting of one value, without its elements. */
export function reportFormatted(value: CelValue): void {
  allocate(typeof value === 'string' || value instanceof Uint8Array ? nodeBytes + 2 * value.length : nodeBytes);
  work(nsPerFormatted);
}

const nsPerFormatted = 200;
/** A double has up to a thousand digits. */
const nsPerClause = 10_000;

/** `%s` of any value; strings inside of lists and maps are not quoted either. */
function formatAny(value: CelValue): string {
  reportFormatted(value);
  if (value === null) return 'null';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double) return special(value) ?? formatDouble(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof CelList) return `[${value.toArray().map(formatAny).join(', ')}]`;
  if (value instanceof CelMap) return formatMap(value);
  return wrong(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

function formatMap(map: CelMap): string {
  const entries = map.keys().map((key): [string, string] => [formatAny(key), formatAny(map.get(key))]);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}
