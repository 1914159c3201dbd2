/**
 * Finds one text in another in linear time. The engine's own search compares all of the part at every position in the worst case, which is
 * only acceptable where their product is small. Else the Knuth-Morris-Pratt algorithm is used: when a comparison fails, `borders` gives the
 * length of the compared text that is also a prefix of the part.
 *
 *     part     a b a b c
 *     borders  0 0 1 2 0      after `abab` the part may continue from its first `ab`
 */

import { allocate, work } from '../work.ts';

/** Compared characters up to which the engine's search takes less than a tenth of a millisecond. */
const productMax = 100_000;
const nsPerCharacter = 5;
const blockLength = 4_096;

/** Like `text.indexOf(part, from)`. */
export function indexIn(text: string, part: string, from = 0): number {
  if (isSmall(text, part)) return text.indexOf(part, from);
  return new Search(part).first(text, from);
}

/** Like `text.lastIndexOf(part, from)`. */
export function lastIndexIn(text: string, part: string, from = Infinity): number {
  if (isSmall(text, part)) return text.lastIndexOf(part, from);
  let last = -1;
  new Search(part).run(text, 0, (at) => {
    if (at <= from) last = at;
    return at >= from;
  });
  return last;
}

/** Like `text.split(separator)` with a separator. */
export function splitAt(text: string, separator: string): string[] {
  if (isSmall(text, separator)) return text.split(separator);
  const search = new Search(separator);
  const parts: string[] = [];
  let from = 0;
  for (let at = search.first(text, 0); at !== -1; at = search.first(text, from)) {
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  return [...parts, text.slice(from)];
}

const isSmall = (text: string, part: string): boolean => part.length < 2 || text.length * part.length <= productMax;

class Search {
  readonly #part: string;
  /** For each end: the length of the longest proper prefix of the part that ends there. */
  readonly #borders: Int32Array;

  constructor(part: string) {
    allocate(part.length * 4);
    work(part.length * nsPerCharacter);
    this.#part = part;
    this.#borders = new Int32Array(part.length);
    for (let at = 1, length = 0; at < part.length; at++) {
      length = this.#extend(length, part.charCodeAt(at));
      this.#borders[at] = length;
    }
  }

  first(text: string, from: number): number {
    let found = -1;
    this.run(text, from, (at) => {
      found = at;
      return true;
    });
    return found;
  }

  /** Calls `visit` for each occurrence, overlapping ones included, until it returns true. */
  run(text: string, from: number, visit: (at: number) => boolean): void {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      if (at % blockLength === 0) work(blockLength * nsPerCharacter);
      matched = this.#extend(matched, text.charCodeAt(at));
      if (matched === this.#part.length && visit(at + 1 - matched)) return;
    }
  }

  #extend(matched: number, unit: number): number {
    let length = matched === this.#part.length ? this.#borders[matched - 1]! : matched;
    while (length > 0 && this.#part.charCodeAt(length) !== unit) length = this.#borders[length - 1]!;
    return this.#part.charCodeAt(length) === unit ? length + 1 : length;
  }
}
