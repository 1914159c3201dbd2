/** Text to tokens, all at once: expressions are short, and the parser may look ahead freely. */

import { toUint64Literal } from './numbers.ts';
import { unescapeBytes, unescapeString } from './literals.ts';
import { LexicalError } from './source.ts';
import { work } from '../work.ts';
import { Double } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

export type TokenKind = 'ident' | 'quoted' | 'literal' | 'int' | 'operator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The operator, identifier or source text. */
  readonly text: string;
  readonly offset: number;
  /** For literals; ints keep their text, because a preceding `-` is part of them. */
  readonly value?: CelValue;
}

const nsPerToken = 300;
const space = /[ \t\r\n\f]+|\/\/[^\n]*/y;
const identifier = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const quotedIdentifier = /`[a-zA-Z0-9_.\-/ ]+`/y;
const float = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const integer = /(?:0[xX][0-9a-fA-F]+|\d+)[uU]?/y;
const operator = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}=]/y;
const stringStart = /([bB]?)([rR]?)("""|'''|"|')/y;

export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const push = (kind: TokenKind, text: string, value?: CelValue): void => {
    tokens.push(value === undefined ? { kind, text, offset: at } : { kind, text, offset: at, value });
    at += text.length;
  };

  while (at < source.length) {
    work(nsPerToken);
    const skipped = read(space);
    if (skipped) {
      at += skipped[0].length;
      continue;
    }
    const string = read(stringStart);
    if (string) {
      const { text, value } = readString(source, at, string);
      push('literal', text, value);
      continue;
    }
    const number = read(float);
    if (number) {
      push('literal', number[0], new Double(Number(number[0])));
      continue;
    }
    const whole = read(integer);
    if (whole) {
      const text = whole[0];
      if (/[uU]$/.test(text)) push('literal', text, toUint64Literal(text, at));
      else push('int', text);
      continue;
    }
    const name = read(identifier);
    if (name) {
      push('ident', name[0]);
      continue;
    }
    const quoted = read(quotedIdentifier);
    if (quoted) {
      push('quoted', quoted[0]);
      continue;
    }
    const sign = read(operator);
    if (!sign) throw new LexicalError(at, `Syntax error: token recognition error at: '${source[at]!}'`);
    push('operator', sign[0]);
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: source.length });
  return tokens;
}

function readString(source: string, start: number, match: RegExpExecArray): { text: string; value: CelValue } {
  const [opening, bytesPrefix, rawPrefix, quote = ''] = match;
  const raw = rawPrefix !== '';
  const bodyStart = start + opening.length;
  let end = bodyStart;
  for (; !source.startsWith(quote, end); end++) {
    if (end >= source.length || (quote.length === 1 && (source[end] === '\n' || source[end] === '\r'))) {
      throw new LexicalError(start, `Syntax error: token recognition error at: '${source.slice(start, end)}'`);
    }
    if (source[end] === '\\' && !raw) end += 1;
  }
  const body = source.slice(bodyStart, end);
  const text = source.slice(start, end + quote.length);
  if (bytesPrefix !== '') {
    if (raw) return { text, value: new Uint8Array(Buffer.from(body, 'utf8')) };
    const result = unescapeBytes(body);
    if ('error' in result) throw new LexicalError(start, `Syntax error: ${result.error}`);
    return { text, value: result.bytes };
  }
  if (raw) return { text, value: body };
  const result = unescapeString(body);
  if ('error' in result) throw new LexicalError(start, `Syntax error: ${result.error}`);
  return { text, value: result.text };
}
