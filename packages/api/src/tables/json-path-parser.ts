/**
 * The grammar of Kubernetes' JSONPath, which is a dialect: `.a.b`, `['key']`, `[0]`, `[1:4:2]`, `[*]`, `[0,2]`, `..`, `[?(@.a=="b")]`, `\.`
 * for a dot in a name. A path is the text between the braces of a kubectl template; text after a closing brace is ignored, because columns
 * show only the first action. Ranges are not supported in columns.
 */

import { CodedError } from '@hangar/core';

export type JsonPathErrorCode =
  /** The path is malformed. */
  | 'InvalidJsonPath'
  /** The path does not match the object: an index into a value that is not a list, a comparison of a number with a text. */
  | 'JsonPathMismatch'
  /** The path would visit more values than the limit. */
  | 'JsonPathTooCostly';

export class JsonPathError extends CodedError<JsonPathErrorCode> {}

export interface SliceNode {
  readonly kind: 'slice';
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** `[n]`: the end is derived from the start. */
  readonly isIndex: boolean;
  readonly step: number | undefined;
}

export interface FilterNode {
  readonly kind: 'filter';
  readonly left: Path;
  readonly right: Path;
  /** As written: checked when it is evaluated. */
  readonly operator: string;
}

export type PathNode =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' | 'recursive' }
  | { readonly kind: 'union'; readonly paths: readonly Path[] }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  /** A quoted text replaces the whole result, other literals replace each value. */
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'identifier'; readonly name: string }
  | SliceNode
  | FilterNode;

export type Path = readonly PathNode[];

const invalid = (message: string): JsonPathError => new JsonPathError('InvalidJsonPath', message);

/** Longer than any real path. */
const lengthMax = 16_384;

/** Throws InvalidJsonPath. */
export function parsePath(text: string): Path {
  if (text.length > lengthMax) throw invalid(`longer than ${lengthMax} characters`);
  const path: PathNode[] = [];
  let at = 0;
  /** Consumes the match of the pattern at the current position. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  while (at < text.length && text[at] !== '}') {
    if (text[at] === '\r' || text[at] === '\n') throw invalid('unclosed action');
    if (text.startsWith('[?(', at)) {
      const [filter, end] = readFilter(text, at + 3);
      path.push(filter);
      at = end;
    } else if (take(twoDots)) {
      if (path.at(-1)?.kind === 'recursive') throw invalid('invalid multiple recursive descent');
      path.push({ kind: 'recursive' });
      if (startsName.test(text.slice(at, at + 2))) path.push(fieldNode(take(name)![0]));
    } else if (take(dot)) {
      path.push(fieldNode(take(name)![0]));
    } else if (text[at] === '[') {
      const match = take(brackets);
      if (!match) throw invalid('unterminated array');
      path.push(...arrayNodes(match[1]!));
    } else if (text[at] === '"' || text[at] === "'") {
      const match = take(text[at] === '"' ? doubleQuoted : singleQuoted);
      if (!match) throw invalid('unterminated quoted string');
      path.push({ kind: 'text', value: unquote(match[0]) });
    } else {
      const match = take(blank) ?? take(number) ?? take(identifier);
      if (!match) throw invalid(`unrecognized character in action: ${characterName(text.codePointAt(at)!)}`);
      if (!/[ @$]/.test(match[0][0]!)) path.push(wordNode(match[0]));
    }
  }
  return path;
}

const twoDots = /\.\./y;
const dot = /\./y;
/** `@` and `$` are the current object, at which every step starts anyway. */
const blank = /[ @$]/y;
/** Matches up to the end of a word; a backslash escapes any character. */
const name = /(?:\\[^]?|[^\\ \t\r\n.,[\]$@{}])*/y;
const identifier = /[_\p{L}\p{Nd}][^ \t\r\n.,[\]$@{}]*/uy;
const startsName = /^[_\p{L}\p{Nd}]/u;
const number = /[+-][\d.]*|\d[\d.]*/y;
const brackets = /\[([^\]\n]*)\]/y;
/** The closing quote does not follow a backslash, even if that one is escaped. */
const doubleQuoted = /"(?:[^"\n]*\\")*[^"\n]*(?<!\\)"/y;
const singleQuoted = /'(?:[^'\n]*\\')*[^'\n]*(?<!\\)'/y;

const fieldNode = (text: string): PathNode =>
  text === '*' ? { kind: 'wildcard' } : { kind: 'field', name: text.replaceAll('\\', '') };

function wordNode(word: string): PathNode {
  if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
  if (!/^[+\-\d]/.test(word)) return { kind: 'identifier', name: word };
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(word)) throw invalid(`cannot parse number ${word}`);
  return { kind: 'literal', value: Number(word) };
}

const characterName = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`;

/** Parses the text between brackets. */
function arrayNodes(text: string): Path {
  const parts = text.split(',');
  if (parts.length > 1) {
    return [{ kind: 'union', paths: parts.map((part) => parsePath(`[${part.trim()}]`)) }];
  }
  const key = /^'([^']*)'$/.exec(text);
  // A key is parsed as a path: `['a.b']` is `.a.b`, and a dot in the name needs its backslash here too.
  if (key) return parsePath(`.${key[1]!}`);
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(text === '*' ? ':' : text);
  if (!slice) throw invalid(`invalid array index ${text}`);
  const [start, end, step] = [slice[1], slice[2], slice[3]].map(index);
  return [{ kind: 'slice', start, end, step, isIndex: slice[2] === undefined }];
}

function index(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (text === '-' || text.length > 19) throw invalid(`array index ${text} is not a number`);
  return Number(text);
}

/** Starts behind `[?(`; also returns the end. The first parenthesis outside of quotes closes it. */
function readFilter(text: string, start: number): [FilterNode, end: number] {
  let quote = '';
  let isQuoted = false;
  let at = start;
  for (; ; at++) {
    const character = text[at];
    if (character === undefined || character === '\n') throw invalid('unterminated filter');
    if (character === '"' || character === "'") {
      if (quote === '') {
        quote = character;
        isQuoted = true;
      } else if (character === quote && text[at - 1] !== '\\') {
        isQuoted = false;
      }
    } else if (character === ')' && !isQuoted) {
      break;
    }
  }
  if (text[at + 1] !== ']') throw invalid('unclosed array expect ]');
  const condition = text.slice(start, at);
  const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(condition);
  const [left = condition, operator = 'exists', right = ''] = comparison?.slice(1) ?? [];
  return [{ kind: 'filter', left: parsePath(left), operator, right: parsePath(right) }, at + 2];
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

const escape = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.)|$)/gu;

/** Uses Go's escapes; the other kind of quote is not escaped. */
function unquote(quoted: string): string {
  const quote = quoted[0]!;
  const fail = (): never => {
    throw invalid(`unquote string ${quoted} error invalid syntax`);
  };
  return quoted.slice(1, -1).replace(escape, (_, hex2, hex4, hex8, octal, letter: string | undefined) => {
    const code = hex2 ?? hex4 ?? hex8;
    if (code !== undefined) return codePoint(Number.parseInt(code, 16)) ?? fail();
    if (octal !== undefined) return codePoint(Number.parseInt(octal, 8)) ?? fail();
    if (letter === quote) return quote;
    return letter !== undefined && Object.hasOwn(escapes, letter) ? escapes[letter]! : fail();
  });
}

const codePoint = (code: number): string | undefined =>
  code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff) ? undefined : String.fromCodePoint(code);
