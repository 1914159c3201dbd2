/**
 * A JSON parser for the two cases that `JSON.parse` cannot serve: naming an error as kube-apiserver names it, and telling
 * which keys an object had more than once. Everything else takes the fast path.
 */

import { quote } from '../status/field-error.ts';
import { ApiError } from '../errors.ts';
import { depthMax } from '../limits.ts';

/** Objects with a repeated key → all their keys in the order of the text. */
export type RepeatedKeys = ReadonlyMap<object, readonly string[]>;

export interface SlowlyParsed {
  readonly value: unknown;
  readonly repeated: RepeatedKeys;
}

/** Throws MalformedJson or TooDeep. */
export function parseSlowly(text: string): SlowlyParsed {
  return new SlowParser(text).parse();
}

const literals: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const hexadecimal = /^[0-9a-fA-F]{4}$/;

class SlowParser {
  readonly #text: string;
  readonly #repeated = new Map<object, readonly string[]>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): SlowlyParsed {
    this.#skipSpace();
    const value = this.#value(1);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, repeated: this.#repeated };
  }

  #value(depth: number): unknown {
    const first = this.#text[this.#at];
    if (first === '{' || first === '[') {
      if (depth > depthMax) throw new ApiError('TooDeep', `invalid character '${first}' exceeded max depth`);
      return first === '{' ? this.#object(depth) : this.#list(depth);
    }
    if (first === '"') return this.#string();
    if (first === 't' || first === 'f' || first === 'n') return this.#literal(first);
    number.lastIndex = this.#at;
    const match = number.exec(this.#text);
    if (!match) {
      const where = first === '-' ? 'in numeric literal' : 'looking for beginning of value';
      if (first === '-') this.#at++;
      throw this.#unexpected(where);
    }
    this.#at += match[0].length;
    return Number(match[0]);
  }

  #object(depth: number): object {
    const object: Record<string, unknown> = {};
    const keys: string[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#take('}')) return object;
    for (;;) {
      if (this.#text[this.#at] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = this.#string();
      this.#skipSpace();
      if (!this.#take(':')) throw this.#unexpected('after object key');
      this.#skipSpace();
      const value = this.#value(depth + 1);
      if (Object.hasOwn(object, key)) this.#repeated.set(object, keys);
      keys.push(key);
      // Assigning to `__proto__` would change the object's prototype.
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      this.#skipSpace();
      if (this.#take('}')) return object;
      if (!this.#take(',')) throw this.#unexpected('after object key:value pair');
      this.#skipSpace();
    }
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#take(']')) return list;
    for (;;) {
      list.push(this.#value(depth + 1));
      this.#skipSpace();
      if (this.#take(']')) return list;
      if (!this.#take(',')) throw this.#unexpected('after array element');
      this.#skipSpace();
    }
  }

  #string(): string {
    const start = this.#at;
    const text = this.#text;
    let isPlain = true;
    let end = start + 1;
    for (let code = text.charCodeAt(end); code !== 0x22; code = text.charCodeAt(end)) {
      if (Number.isNaN(code) || code < 0x20) this.#failInString();
      if (code === 0x5c) {
        isPlain = false;
        end++;
      }
      end++;
    }
    this.#at = ++end;
    if (isPlain) return text.slice(start + 1, end - 1);
    try {
      return (JSON.parse(text.slice(start, end)) as string).toWellFormed();
    } catch {
      this.#at = start;
      return this.#failInString();
    }
  }

  /** Finds the first error in the string that begins here, and throws it. */
  #failInString(): never {
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code) || code < 0x20) throw this.#unexpected('in string literal');
      if (code !== 0x5c) continue;
      this.#at++;
      this.#checkEscape();
    }
  }

  #checkEscape(): void {
    const escape = this.#text[this.#at];
    if (escape === undefined || !'"\\/bfnrtu'.includes(escape)) throw this.#unexpected('in string escape code');
    if (escape !== 'u') return;
    if (!hexadecimal.test(this.#text.slice(this.#at + 1, this.#at + 5))) {
      while (/[0-9a-fA-F]/.test(this.#text[++this.#at] ?? '')) continue;
      throw this.#unexpected('in \\u hexadecimal character escape');
    }
    this.#at += 4;
  }

  #literal(first: 't' | 'f' | 'n'): unknown {
    const word = first === 't' ? 'true' : first === 'f' ? 'false' : 'null';
    for (let i = 1; i < word.length; i++) {
      this.#at++;
      if (this.#text[this.#at] !== word[i]) throw this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at++;
    return literals[word];
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #unexpected(where: string): ApiError {
    if (this.#at >= this.#text.length) return new ApiError('MalformedJson', 'unexpected end of JSON input');
    const code = this.#text.codePointAt(this.#at)!;
    // Go's scanner sees bytes, and shows each as the character of that number.
    const byte = code < 0x80 ? code : Buffer.from(String.fromCodePoint(code))[0]!;
    return new ApiError('MalformedJson', `invalid character ${quoted(String.fromCharCode(byte))} ${where}`);
  }
}

function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  return `'${quote(character).slice(1, -1)}'`;
}
