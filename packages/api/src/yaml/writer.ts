/**
 * Writes JSON values as YAML in pieces, in the form of js-yaml with sorted keys and lists that are not indented. Takes time and memory in
 * proportion to the text, at any depth: nothing is recursive, and the work can pause after each piece.
 *
 * Indentation multiplies: 3 MB of JSON that nest a thousand deep become 500 MB of YAML. The budget stops that.
 */

import { ApiError } from '../errors.ts';
import { LazyList } from '../lazy-list.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { escapedText, literalHeader, numberText, styleOf } from './scalars.ts';

export interface YamlOptions {
  /** Strings and keys that match are in double quotes, so that anything in them may be written as an escape. */
  readonly doubleQuoted?: RegExp;
  /** UTF-16 units of text, of an object or of each item of a LazyList. Default: no limit. */
  readonly lengthMax?: number;
}

/** A collection that is being written. */
interface Frame {
  readonly list: readonly unknown[] | LazyList | undefined;
  readonly object: JsonObject;
  readonly keys: readonly string[];
  at: number;
  /** Of its entries, in steps of two spaces. */
  readonly level: number;
  /** The first entry is on the line on which the collection begins. */
  isCompact: boolean;
}

const pieceLength = 16 * 1024;
const keysKeptMax = 1_000;
const keptKeyLengthMax = 64;
/** YAML allows no longer key on the line of its value. */
const simpleKeyLengthMax = 1_024;

/** Throws TooLarge beyond the budget. */
export function* yamlPieces(value: JsonObject, options: YamlOptions = {}): Generator<string, void, void> {
  const writer = new YamlWriter(options);
  yield* writer.document(value);
}

class YamlWriter {
  readonly #doubleQuoted: RegExp | undefined;
  readonly #lengthMax: number;
  readonly #keys = new Map<string, string>();
  #length = 0;
  #text = '';
  /** The last scalar ends with empty lines, which belong to it. */
  #isOpenEnded = false;

  constructor({ doubleQuoted, lengthMax = Infinity }: YamlOptions) {
    this.#doubleQuoted = doubleQuoted;
    this.#lengthMax = lengthMax;
  }

  *document(value: JsonObject): Generator<string, void, void> {
    const stack: Frame[] = [];
    if (isEmpty(value)) this.#write('{}');
    else stack.push(frameOf(value, 0, true));
    while (stack.length > 0) {
      const frame = stack.at(-1)!;
      if (frame.at >= (frame.list ?? frame.keys).length) {
        stack.pop();
        continue;
      }
      if (frame.list) yield* this.#item(frame, stack);
      else yield* this.#field(frame, stack);
      // Also after an item of a lazy list, since making it may take long.
      if (this.#text.length >= pieceLength || frame.list instanceof LazyList) yield this.#taken();
    }
    this.#write(this.#isOpenEnded ? '\n...\n' : '\n');
    yield this.#taken();
  }

  *#item(frame: Frame, stack: Frame[]): Generator<string, void, void> {
    const item = this.#itemOf(frame);
    this.#newLine(frame);
    this.#write('- ');
    if (isCollection(item)) stack.push(frameOf(item, frame.level + 1, true));
    else yield* this.#scalar(item ?? null, frame.level + 1);
  }

  #itemOf(frame: Frame): unknown {
    const { list } = frame;
    if (!(list instanceof LazyList)) return list![frame.at++];
    this.#length = 0;
    return list.item(frame.at++);
  }

  *#field(frame: Frame, stack: Frame[]): Generator<string, void, void> {
    const key = frame.keys[frame.at++]!;
    const value = frame.object[key];
    if (value === undefined) return;
    this.#newLine(frame);
    const text = this.#keyText(key);
    const isExplicit = key.includes('\n') || (text.length > simpleKeyLengthMax && isLongKey(text));
    if (isExplicit) {
      this.#write(`? ${text}\n`);
      this.#indent(frame.level);
    } else this.#write(text);
    if (!isCollection(value)) {
      this.#write(': ');
      yield* this.#scalar(value, frame.level + 1);
    } else if (isExplicit) {
      this.#write(': ');
      stack.push(frameOf(value, frame.level + 1, true));
    } else {
      this.#write(':');
      stack.push(frameOf(value, isList(value) ? frame.level : frame.level + 1, false));
    }
  }

  *#scalar(value: unknown, level: number): Generator<string, void, void> {
    this.#isOpenEnded = false;
    if (typeof value !== 'string') {
      this.#write(otherText(value));
      return;
    }
    const style = this.#styleOf(value, false);
    if (style === 'plain') this.#write(value);
    else if (style === 'literal') yield* this.#literal(value, level);
    else if (value.length <= pieceLength) this.#write(`"${escapedText(value)}"`);
    else {
      this.#write('"');
      for (let at = 0; at < value.length;) {
        const end = endOfPiece(value, at + pieceLength);
        this.#write(escapedText(value.slice(at, end)));
        yield this.#taken();
        at = end;
      }
      this.#write('"');
    }
  }

  *#literal(value: string, level: number): Generator<string, void, void> {
    this.#isOpenEnded = value === '\n' || value.endsWith('\n\n');
    this.#write(literalHeader(value));
    // The line break of the last line is written with the following text.
    const end = value.endsWith('\n') ? value.length - 1 : value.length;
    for (let at = 0; at <= end;) {
      const found = value.indexOf('\n', at);
      const lineEnd = found < 0 || found > end ? end : found;
      if (lineEnd > at) {
        this.#indent(level);
        this.#write(value.slice(at, lineEnd));
      }
      if (lineEnd < end) this.#write('\n');
      at = lineEnd + 1;
      if (this.#text.length >= pieceLength) yield this.#taken();
    }
  }

  #keyText(key: string): string {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const text = this.#styleOf(key, true) === 'plain' ? key : `"${escapedText(key)}"`;
    if (this.#keys.size < keysKeptMax && key.length <= keptKeyLengthMax) this.#keys.set(key, text);
    return text;
  }

  #styleOf(text: string, isKey: boolean): ReturnType<typeof styleOf> {
    return this.#doubleQuoted?.test(text) ? 'double' : styleOf(text, isKey);
  }

  #newLine(frame: Frame): void {
    if (frame.isCompact) {
      frame.isCompact = false;
      return;
    }
    this.#write('\n');
    this.#indent(frame.level);
  }

  #indent(level: number): void {
    this.#write(' '.repeat(2 * level));
  }

  #write(text: string): void {
    this.#length += text.length;
    if (this.#length > this.#lengthMax) {
      throw new ApiError('TooLarge', `the object is longer than ${this.#lengthMax} characters as YAML`);
    }
    this.#text += text;
  }

  #taken(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

const isList = (value: unknown): value is readonly unknown[] | LazyList =>
  Array.isArray(value) || value instanceof LazyList;

function isEmpty(value: object): boolean {
  if (isList(value)) return value.length === 0;
  for (const key in value) if ((value as JsonObject)[key] !== undefined) return false;
  return true;
}

/** Empty ones are written like scalars. */
const isCollection = (value: unknown): value is JsonObject | readonly unknown[] | LazyList =>
  typeof value === 'object' && value !== null && !isEmpty(value);

const otherText = (value: unknown): string =>
  typeof value === 'number' ? numberText(value) : isList(value) ? '[]' : isObject(value) ? '{}' : String(value);

function frameOf(value: JsonObject | readonly unknown[] | LazyList, level: number, isCompact: boolean): Frame {
  if (isList(value)) return { list: value, object: {}, keys: [], at: 0, level, isCompact };
  const object = value;
  return { list: undefined, object, keys: Object.keys(object).sort(), at: 0, level, isCompact };
}

const isLongKey = (text: string): boolean => /^[\s\S]{1025}/u.test(text);

/** Both halves of a surrogate pair are in one piece. */
const endOfPiece = (text: string, at: number): number =>
  at < text.length && text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff ? at + 1 : at;
