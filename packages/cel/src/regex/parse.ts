/**
 * RE2's syntax: no back references and no look-around, so that every pattern can be matched in linear time. Patterns that RE2 refuses are
 * refused here too.
 */

import { work } from '../work.ts';
import { charSet, includes, perlClasses, posixClasses, unicodeProperty } from './charset.ts';
import type { CharSet } from './charset.ts';
import { readCharacterEscape } from './escapes.ts';
import { RegexError } from './syntax.ts';
import type { Assertion, RegexNode } from './syntax.ts';

const nsPerAtom = 400;
const depthMax = 250;
/** RE2's bound on counted repetition, also on the product of nested ones. */
const repeatMax = 1000;

interface Flags {
  readonly foldCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly ungreedy: boolean;
}

export function parseRegex(pattern: string): RegexNode {
  return new RegexParser(pattern).parse();
}

class RegexParser {
  readonly #pattern: string;
  readonly #names = new Set<string>();
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  parse(): RegexNode {
    const node = this.#choice({ foldCase: false, multiline: false, dotAll: false, ungreedy: false });
    if (this.#at < this.#pattern.length) this.#fail('unexpected )', this.#pattern);
    if (repetition(node) > repeatMax) this.#fail('invalid repeat count', this.#pattern);
    return node;
  }

  #fail(what: string, where: string): never {
    throw new RegexError(`error parsing regexp: ${what}: \`${where}\``);
  }

  #looking(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  #choice(outer: Flags): RegexNode {
    if (++this.#depth > depthMax) this.#fail('expression nests too deeply', this.#pattern.slice(0, 40));
    let flags = outer;
    const branches: RegexNode[] = [];
    let items: RegexNode[] = [];
    let repeatable = false;
    while (this.#at < this.#pattern.length && !this.#looking(')')) {
      work(nsPerAtom);
      if (this.#looking('|')) {
        this.#at += 1;
        branches.push(sequence(items));
        items = [];
        repeatable = false;
        continue;
      }
      const count = this.#repetition();
      if (count !== undefined) {
        const item = repeatable ? items.pop() : undefined;
        if (item === undefined) this.#fail('missing argument to repetition operator', count.text);
        if (this.#repetitionFollows())
          this.#fail('invalid nested repetition operator', count.text + this.#pattern.slice(this.#at, this.#at + 1));
        items.push({ kind: 'repeat', item, min: count.min, max: count.max, greedy: count.lazy === flags.ungreedy });
        continue;
      }
      const changed = this.#flagGroup(flags);
      if (changed !== undefined) {
        flags = changed;
        continue;
      }
      const quoted = this.#quoted(flags);
      if (quoted !== undefined) for (const one of quoted) items.push(one);
      else items.push(this.#atom(flags));
      repeatable = true;
    }
    branches.push(sequence(items));
    this.#depth -= 1;
    return branches.length === 1 ? branches[0]! : { kind: 'choice', items: branches };
  }

  /** Parses `* + ? {n} {n,} {n,m}`, each with an optional `?`; any other brace is a literal. */
  #repetition(): { min: number; max: number; lazy: boolean; text: string } | undefined {
    const match = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.#pattern.slice(this.#at, this.#at + 24));
    if (!match) return undefined;
    const [text, low, comma, high] = match;
    this.#at += text.length;
    const lazy = this.#looking('?');
    if (lazy) this.#at += 1;
    if (text === '*') return { min: 0, max: Infinity, lazy, text };
    if (text === '+') return { min: 1, max: Infinity, lazy, text };
    if (text === '?') return { min: 0, max: 1, lazy, text };
    const min = Number(low);
    const max = comma === undefined ? min : high === '' || high === undefined ? Infinity : Number(high);
    if (min > repeatMax || (max !== Infinity && max > repeatMax) || min > max) this.#fail('invalid repeat count', text);
    return { min, max, lazy, text };
  }

  #repetitionFollows(): boolean {
    return /^(?:[*+?]|\{\d+(?:,\d*)?\})/.test(this.#pattern.slice(this.#at, this.#at + 24));
  }

  /** `(?i)`: flags for the rest of the group. */
  #flagGroup(flags: Flags): Flags | undefined {
    const match = /^\(\?([imsU]*)(?:-([imsU]+))?\)/.exec(this.#pattern.slice(this.#at, this.#at + 24));
    if (!match || (match[1] === '' && match[2] === undefined)) return undefined;
    this.#at += match[0].length;
    return changeFlags(flags, match[1] ?? '', match[2] ?? '');
  }

  /** `\Q…\E`: literal characters. */
  #quoted(flags: Flags): RegexNode[] | undefined {
    if (!this.#looking('\\Q')) return undefined;
    const close = this.#pattern.indexOf('\\E', this.#at + 2);
    const text = this.#pattern.slice(this.#at + 2, close === -1 ? undefined : close);
    this.#at = close === -1 ? this.#pattern.length : close + 2;
    work(text.length * nsPerAtom);
    return [...text].map((char) => literal(char.codePointAt(0)!, flags));
  }

  #atom(flags: Flags): RegexNode {
    const codePoint = this.#pattern.codePointAt(this.#at)!;
    const char = String.fromCodePoint(codePoint);
    switch (char) {
      case '(':
        return this.#group(flags);
      case '[':
        return { kind: 'set', set: this.#class(flags) };
      case '.':
        this.#at += 1;
        return { kind: 'set', set: charSet(flags.dotAll ? [] : [10, 10], { negated: true }) };
      case '^':
        this.#at += 1;
        return assertion(flags.multiline ? 'lineStart' : 'textStart');
      case '$':
        this.#at += 1;
        return assertion(flags.multiline ? 'lineEnd' : 'textEnd');
      case '\\':
        return this.#escape(flags);
      default:
        this.#at += char.length;
        return literal(codePoint, flags);
    }
  }

  #group(flags: Flags): RegexNode {
    const rest = this.#pattern.slice(this.#at, this.#at + 80);
    let inner = flags;
    const named = /^\(\?P?<([A-Za-z0-9_]+)>/.exec(rest);
    const flagged = /^\(\?([imsU]*)(?:-([imsU]+))?:/.exec(rest);
    if (named) {
      if (this.#names.has(named[1]!)) this.#fail('duplicate capture group name', named[1]!);
      this.#names.add(named[1]!);
      this.#at += named[0].length;
    } else if (flagged) {
      inner = changeFlags(flags, flagged[1] ?? '', flagged[2] ?? '');
      this.#at += flagged[0].length;
    } else if (rest.startsWith('(?')) {
      this.#fail('invalid or unsupported Perl syntax', rest.slice(0, 3));
    } else {
      this.#at += 1;
    }
    const node = this.#choice(inner);
    if (!this.#looking(')')) this.#fail('missing closing )', this.#pattern);
    this.#at += 1;
    return node;
  }

  #escape(flags: Flags): RegexNode {
    const letter = this.#pattern[this.#at + 1] ?? '';
    const assertions: Readonly<Record<string, Assertion>> = {
      A: 'textStart',
      z: 'textEnd',
      b: 'wordBoundary',
      B: 'notWordBoundary',
    };
    if (Object.hasOwn(assertions, letter)) {
      this.#at += 2;
      return assertion(assertions[letter]!);
    }
    const set = this.#classEscape(flags);
    if (set !== undefined) return { kind: 'set', set };
    const { codePoint, end } = readCharacterEscape(this.#pattern, this.#at + 1);
    this.#at = end;
    return literal(codePoint, flags);
  }

  /** `\d`, `\pL`, `\P{Greek}`, … */
  #classEscape(flags: Flags): CharSet | undefined {
    const rest = this.#pattern.slice(this.#at, this.#at + 40);
    const perl = /^\\([dswDSW])/.exec(rest)?.[1];
    if (perl !== undefined) {
      this.#at += 2;
      return charSet(perlClasses[perl.toLowerCase()]!, { negated: perl < 'a' });
    }
    const property = /^\\([pP])(?:\{(\^?)([^}]*)\}|([A-Za-z]))/.exec(rest);
    if (!property) {
      if (/^\\[pP]/.test(rest)) this.#fail('invalid character class range', rest.slice(0, 2));
      return undefined;
    }
    const [text, sign, caret, long, short] = property;
    const part = unicodeProperty(long ?? short ?? '');
    if (part === undefined) this.#fail('invalid character class range', text);
    this.#at += text.length;
    return charSet([], { parts: [part], negated: (sign === 'P') !== (caret === '^'), foldCase: flags.foldCase });
  }

  #class(flags: Flags): CharSet {
    const start = this.#at;
    this.#at += 1;
    const negated = this.#looking('^');
    if (negated) this.#at += 1;
    const ranges: number[] = [];
    const parts: ((codePoint: number) => boolean)[] = [];
    for (let first = true; first || !this.#looking(']'); first = false) {
      work(nsPerAtom);
      if (this.#at >= this.#pattern.length) this.#fail('missing closing ]', this.#pattern.slice(start));
      const posix = /^\[:(\^?)([a-z]+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 16));
      if (posix) {
        const named = Object.hasOwn(posixClasses, posix[2]!) ? posixClasses[posix[2]!] : undefined;
        if (named === undefined) this.#fail('invalid character class range', posix[0]);
        const set = charSet(named, { negated: posix[1] === '^' });
        parts.push((codePoint) => includes(set, codePoint));
        this.#at += posix[0].length;
        continue;
      }
      const escaped = this.#classEscape(flags);
      if (escaped !== undefined) {
        parts.push((codePoint) => includes(escaped, codePoint));
        continue;
      }
      const low = this.#classCharacter();
      let high = low;
      if (this.#looking('-') && this.#pattern[this.#at + 1] !== ']' && this.#at + 1 < this.#pattern.length) {
        this.#at += 1;
        high = this.#classCharacter();
        if (high < low) this.#fail('invalid character class range', this.#pattern.slice(start, this.#at));
      }
      ranges.push(low, high);
    }
    this.#at += 1;
    return charSet(ranges, { negated, parts, foldCase: flags.foldCase });
  }

  #classCharacter(): number {
    if (this.#looking('\\')) {
      const { codePoint, end } = readCharacterEscape(this.#pattern, this.#at + 1);
      this.#at = end;
      return codePoint;
    }
    const codePoint = this.#pattern.codePointAt(this.#at);
    if (codePoint === undefined) this.#fail('missing closing ]', this.#pattern);
    this.#at += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }
}

const assertion = (name: Assertion): RegexNode => ({ kind: 'assert', assertion: name });
const literal = (codePoint: number, { foldCase }: Flags): RegexNode => ({
  kind: 'set',
  set: charSet([codePoint, codePoint], { foldCase }),
});

function sequence(items: readonly RegexNode[]): RegexNode {
  if (items.length === 0) return { kind: 'empty' };
  return items.length === 1 ? items[0]! : { kind: 'sequence', items };
}

function changeFlags(flags: Flags, on: string, off: string): Flags {
  const value = (letter: string, before: boolean): boolean => (on.includes(letter) || before) && !off.includes(letter);
  return {
    foldCase: value('i', flags.foldCase),
    multiline: value('m', flags.multiline),
    dotAll: value('s', flags.dotAll),
    ungreedy: value('U', flags.ungreedy),
  };
}

/** Returns how often the innermost part of nested counted repetitions is copied. */
function repetition(node: RegexNode): number {
  switch (node.kind) {
    case 'sequence':
    case 'choice':
      return node.items.reduce((most, item) => Math.max(most, repetition(item)), 1);
    case 'repeat': {
      const copies = Math.max(1, node.max === Infinity ? node.min : node.max);
      return copies * repetition(node.item);
    }
    default:
      return 1;
  }
}
