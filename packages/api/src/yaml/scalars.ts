/** Strings and numbers as YAML scalars, exactly as js-yaml writes them with `quoteStyle: 'double'` and no line width. */

import { DUMP_SCHEMA } from 'js-yaml';

export type ScalarStyle = 'plain' | 'double' | 'literal';

const invisible = /[\t\x7F-\xA0\u2028\u2029\uFEFF\uFFFE\uFFFF]/;
const whitespace = /^\s+$/;
// eslint-disable-next-line no-control-regex -- control characters are found, not written
const control = /[\x00-\x09\x0B-\x1F]/;
/** An indicator, unless it is one of `?`, `:` and `-` with more behind it. */
const indicator = /^(?:[,[\]{}#&*!|>'"%@` ]|[-?:](?: |$))/;
const breaksPlain = /:(?: |$)| #| $/;
const stringTag = DUMP_SCHEMA.defaultScalarTag!.tagName;

export function styleOf(text: string, isKey: boolean): ScalarStyle {
  if (invisible.test(text) || whitespace.test(text) || control.test(text) || !text.isWellFormed()) return 'double';
  if (text.includes('\n')) return isKey ? 'double' : 'literal';
  if (indicator.test(text) || breaksPlain.test(text) || text === '=') return 'double';
  return DUMP_SCHEMA.resolveImplicitScalarTag(text).tag.tagName === stringTag ? 'plain' : 'double';
}

// eslint-disable-next-line no-control-regex -- control characters are what is escaped
const escaped = /["\\\x00-\x1F\x7F-\xA0\u2028\u2029\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/gu;

const shortEscapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1B': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\xA0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escapeOf(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.charCodeAt(0);
  const hex = code.toString(16).toUpperCase();
  return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** Without its quotes. */
export const escapedText = (text: string): string => text.replace(escaped, escapeOf);

export function numberText(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+e/.test(text) ? text.replace('e', '.e') : text;
}

/** Returns the header of a literal block: its indentation, if its text begins with a space, and its chomping. */
export function literalHeader(text: string): string {
  const indentation = /^\n* /.test(text) ? '2' : '';
  if (!text.endsWith('\n')) return `|${indentation}-\n`;
  return text === '\n' || text.endsWith('\n\n') ? `|${indentation}+\n` : `|${indentation}\n`;
}
