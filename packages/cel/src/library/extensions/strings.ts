/** String functions beyond the standard: positions count code points. */

import { fail } from '../../errors.ts';
import { method, overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import * as t from '../../types.ts';
import { ValueList } from '../../values/list.ts';
import type { CelList } from '../../values/list.ts';
import { indexIn, lastIndexIn, splitAt } from '../../values/search.ts';
import { codePointCount, codePoints, limited } from '../../values/text.ts';
import type { CelInt } from '../../values/values.ts';
import { allocate, nodeBytes, work } from '../../work.ts';
import { formatString } from './format-string.ts';
import { quote } from './quote.ts';

const { stringType: string, intType: int } = t;
const strings = t.listOf(string);
const nsPerPart = 50;
const nsPerLetter = 30;
const outOfRange = (index: CelInt): never => fail(`index out of range: ${index}`);

/** Returns the UTF-16 index of a code point. */
const unitIndex = (text: string, index: number): number => {
  work(2 * Math.min(index, text.length));
  let at = 0;
  for (let count = 0; count < index && at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return at;
};

/** Converts a UTF-16 index to one in code points; -1 stays. */
const pointIndex = (text: string, at: number): number => (at === -1 ? -1 : codePointCount(text.slice(0, at)));

function charAt(text: string, index: CelInt): string {
  if (index < 0 || index > codePointCount(text)) outOfRange(index);
  const codePoint = text.codePointAt(unitIndex(text, Number(index)));
  return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
}

function indexOf(text: string, part: string, offset: CelInt = 0): number {
  if (part === '' && offset === 0) return 0;
  if (offset < 0 || offset > codePointCount(text)) outOfRange(offset);
  return pointIndex(text, indexIn(text, part, unitIndex(text, Number(offset))));
}

function lastIndexOf(text: string, part: string, offset?: CelInt): number {
  const length = codePointCount(text);
  if (offset !== undefined && (offset < 0 || offset > length)) outOfRange(offset);
  if (part === '') return Number(offset ?? length);
  return pointIndex(text, lastIndexIn(text, part, offset === undefined ? Infinity : unitIndex(text, Number(offset))));
}

function replace(text: string, old: string, replacement: string, limit: CelInt = -1): string {
  const most = old === '' ? text.length + 1 : text.length / old.length;
  limited(text.length + (limit < 0 ? most : Math.min(most, Number(limit))) * replacement.length);
  const count = limit < 0 ? Infinity : Number(limit);
  if (old === '') return between(codePoints(text), replacement, count);
  const parts = splitText(text, old);
  const replaced = Math.min(count, parts.length - 1);
  allocate(text.length + replaced * replacement.length);
  const head = parts.slice(0, replaced + 1).join(replacement);
  return replaced === parts.length - 1 ? head : [head, ...parts.slice(replaced + 1)].join(old);
}

/** The text between occurrences of the separator. */
function splitText(text: string, separator: string): string[] {
  const parts = splitAt(text, separator);
  work(parts.length * nsPerPart);
  allocate(parts.length * nodeBytes);
  return parts;
}

/** Replacing the empty text inserts the replacement around every character. */
function between(chars: readonly string[], replacement: string, limit: number): string {
  allocate(chars.length + Math.min(limit, chars.length + 1) * replacement.length);
  work(chars.length * nsPerPart);
  let result = '';
  for (let index = 0; index <= chars.length; index++)
    result += (index < limit ? replacement : '') + (chars[index] ?? '');
  return result;
}

function split(text: string, separator: string, limit: CelInt = -1): CelList {
  if (limit === 0) return ValueList.empty;
  const parts = separator === '' ? codePoints(text) : splitText(text, separator);
  if (limit < 0 || parts.length <= limit) return new ValueList(parts);
  const head = parts.slice(0, Number(limit) - 1);
  return new ValueList([...head, parts.slice(Number(limit) - 1).join(separator)]);
}

function substring(text: string, start: CelInt, end?: CelInt): string {
  const length = codePointCount(text);
  const last = end ?? length;
  if (start < 0 || start > length) outOfRange(start);
  if (last < 0 || last > length) outOfRange(last);
  if (start > last) fail(`invalid substring range. start: ${start}, end: ${last}`);
  return text.slice(unitIndex(text, Number(start)), unitIndex(text, Number(last)));
}

function join(list: CelList, separator = ''): string {
  const parts = list.toArray();
  const length = parts.reduce<number>((sum, part) => sum + (part as string).length + separator.length, 0);
  limited(length);
  allocate(length);
  return parts.join(separator);
}

const recased = (text: string, letters: RegExp, change: (letters: string) => string): string => {
  allocate(text.length);
  work(text.length * nsPerLetter);
  return text.replace(letters, change);
};
const upper = (text: string): string => recased(text, /[a-z]+/g, (letters) => letters.toUpperCase());
const lower = (text: string): string => recased(text, /[A-Z]+/g, (letters) => letters.toLowerCase());
/** White space as defined by Unicode, which differs from JavaScript. */
const space = /\p{White_Space}/u;

/** Not a regular expression, which would retry at every space in the middle. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text[start]!)) start += 1;
  while (end > start && space.test(text[end - 1]!)) end -= 1;
  work((text.length - end + start) * nsPerLetter);
  return text.slice(start, end);
}

export const extendedStrings: Library = {
  name: 'extended strings',
  functions: {
    charAt: [method('string_char_at_int', [string, int], string, charAt)],
    indexOf: [
      method('string_index_of_string', [string, string], int, indexOf),
      method('string_index_of_string_int', [string, string, int], int, indexOf),
    ],
    lastIndexOf: [
      method('string_last_index_of_string', [string, string], int, lastIndexOf),
      method('string_last_index_of_string_int', [string, string, int], int, lastIndexOf),
    ],
    join: [method('list_join', [strings], string, join), method('list_join_string', [strings, string], string, join)],
    lowerAscii: [method('string_lower_ascii', [string], string, lower)],
    upperAscii: [method('string_upper_ascii', [string], string, upper)],
    replace: [
      method('string_replace_string_string', [string, string, string], string, replace),
      method('string_replace_string_string_int', [string, string, string, int], string, replace),
    ],
    split: [
      method('string_split_string', [string, string], strings, split),
      method('string_split_string_int', [string, string, int], strings, split),
    ],
    substring: [
      method('string_substring_int', [string, int], string, substring),
      method('string_substring_int_int', [string, int, int], string, substring),
    ],
    trim: [method('string_trim', [string], string, trim)],
    format: [method('string_format', [string, t.listOf(t.dynType)], string, formatString)],
    'strings.quote': [overload('strings_quote', [string], string, quote)],
  },
};

/** Only in later versions of the library than Kubernetes uses. */
export const reverseStrings: Library = {
  name: 'string reverse',
  functions: {
    reverse: [method('string_reverse', [string], string, (text: string) => codePoints(text).reverse().join(''))],
  },
};
