/** The values of an `enum`, with lookup in constant time. */

import { notSupported } from '../../status/field-error.ts';
import { canonicalJson, sorted } from '../structural/canonical.ts';
import { isInt64 } from './numbers.ts';

export class Enumeration {
  readonly #scalars: ReadonlySet<unknown>;
  /** Objects and lists, in canonical JSON. */
  readonly #compounds: ReadonlySet<string>;
  readonly #values: readonly unknown[];
  #detail: string | undefined;

  constructor(values: readonly unknown[]) {
    const isCompound = (value: unknown): boolean => typeof value === 'object' && value !== null;
    this.#values = values;
    this.#scalars = new Set(values.filter((value) => !isCompound(value)));
    this.#compounds = new Set(values.filter(isCompound).map(canonicalJson));
  }

  /**
   * Go converts a value to the type of the enumerated one first: a float loses its fraction, a number may be a letter.
   * Null is never enumerated.
   */
  has(value: unknown): boolean {
    if (value === null) return false;
    if (typeof value === 'object') return this.#compounds.size > 0 && this.#compounds.has(canonicalJson(value));
    if (this.#scalars.has(value)) return true;
    if (typeof value !== 'number') return false;
    const isLetter = isInt64(value) && value >= 0 && value <= 0x10ffff;
    return this.#scalars.has(Math.trunc(value)) || (isLetter && this.#scalars.has(String.fromCodePoint(value)));
  }

  /** Detail of an error, shared by all errors: the list may be long. */
  get detail(): string {
    this.#detail ??= notSupported('', '', this.#values.map(enumeratedText)).detail;
    return this.#detail;
  }
}

const enumeratedText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(sorted(value)));
