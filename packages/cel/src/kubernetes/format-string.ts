/** `format` as in Kubernetes' version of the library: numbers in the English locale, and values inside of lists and maps as literals. */

import { method } from '../environment.ts';
import type { Library } from '../environment.ts';
import {
  fixedPoint,
  formatString,
  integer,
  reportFormatted,
  scientific,
  wrong,
} from '../library/extensions/format-string.ts';
import type { FormatDialect } from '../library/extensions/format-string.ts';
import { quote } from '../library/extensions/quote.ts';
import * as t from '../types.ts';
import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import { formatDouble } from '../values/text.ts';
import { formatDuration, formatTimestamp } from '../values/time.ts';
import { Double, Duration, Timestamp, TypeValue, Uint } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

const superscripts: Readonly<Record<string, string>> = {
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
  '-': '⁻',
  '+': '',
};

/** Names of values that are not numbers, also if given as text. */
function special(value: CelValue): string | undefined {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return special(new Double(Number(value)));
  if (!(value instanceof Double) || Number.isFinite(value.value)) return undefined;
  return Number.isNaN(value.value) ? 'NaN' : value.value > 0 ? '∞' : '-∞';
}

const onlyDoubles = (value: CelValue, clause: string): void => {
  if (!(value instanceof Double)) wrong(`${clause} clause can only be used on doubles`, value);
};

function fixed(value: CelValue, precision: number): string {
  const named = special(value);
  if (named !== undefined) return named;
  onlyDoubles(value, 'fixed-point');
  const [whole = '', ...fraction] = fixedPoint(value, precision).split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

function exponential(value: CelValue): string {
  const named = special(value);
  if (named !== undefined) return named;
  onlyDoubles(value, 'scientific');
  // The precision is ignored there too.
  const [mantissa = '', exponent = ''] = scientific(value, 6).split('e');
  return `${mantissa}×10${exponent.replace(/./g, (char) => superscripts[char]!)}`;
}

function any(value: CelValue): string {
  reportFormatted(value);
  if (typeof value === 'string') return value;
  if (value instanceof Double) return formatDouble(value.value, 6);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  return literal(value);
}

function literal(value: CelValue): string {
  reportFormatted(value);
  if (value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof Double) return special(value) ?? fixedPoint(value, 6);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `b${quote(new TextDecoder().decode(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quote(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${quote(formatDuration(value))})`;
  if (value instanceof TypeValue) return value.name;
  if (value instanceof CelList) return `[${value.toArray().map(literal).join(', ')}]`;
  if (!(value instanceof CelMap)) return wrong('no formatting function', value);
  const entries = value.keys().map((key): [string, string] => [literal(key), literal(value.get(key))]);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${key}:${inner}`).join(', ')}}`;
}

const dialect: FormatDialect = {
  any,
  decimal: (value) => String(integer(value, 'decimal clause can only be used on integers')),
  fixed,
  scientific: exponential,
};

export const formattedStrings: Library = {
  name: 'kubernetes string format',
  functions: {
    format: [
      method('string_format', [t.stringType, t.listOf(t.dynType)], t.stringType, (text: string, args: CelList) =>
        formatString(text, args, dialect),
      ),
    ],
  },
};
