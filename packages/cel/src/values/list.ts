/** Lists: a few CEL values, or a JSON array whose elements are adapted on access. */

import { fail } from '../errors.ts';
import { listSizeMax } from '../limits.ts';
import { allocate, slotBytes, work } from '../work.ts';
import { Boxed } from './values.ts';
import type { CelValue, Equality } from './values.ts';

const nsPerElement = 30;

export abstract class CelList extends Boxed {
  abstract readonly size: number;
  /** Returns the element at an index known to be in range. */
  abstract at(index: number): CelValue;

  override get typeName(): string {
    return 'list';
  }

  get(index: CelValue): CelValue {
    if (typeof index !== 'number' || index < 0 || index >= this.size) fail(`index out of bounds: ${String(index)}`);
    return this.at(index);
  }

  *[Symbol.iterator](): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index++) {
      work(nsPerElement);
      yield this.at(index);
    }
  }

  toArray(): CelValue[] {
    allocate(this.size * slotBytes);
    work(this.size * nsPerElement);
    return Array.from({ length: this.size }, (_, index) => this.at(index));
  }

  equals(other: CelList, equal: Equality): boolean {
    if (other.size !== this.size) return false;
    for (let index = 0; index < this.size; index++) if (!equal(this.at(index), other.at(index))) return false;
    return true;
  }

  concat(other: CelList): CelList {
    if (other.size === 0) return this;
    if (this.size === 0) return other;
    if (this.size + other.size > listSizeMax) fail(`the list would have more than ${listSizeMax} elements`);
    return this.size + other.size > copiedMax
      ? new JoinedList(this, other)
      : new ValueList([...this.toArray(), ...other.toArray()]);
  }
}

/** Longer concatenations are not copied: `+` costs one unit for any size, so it must be cheap. */
const copiedMax = 64;

class JoinedList extends CelList {
  readonly size: number;
  readonly #left: CelList;
  readonly #right: CelList;

  constructor(left: CelList, right: CelList) {
    super();
    this.#left = left;
    this.#right = right;
    this.size = left.size + right.size;
  }

  override at(index: number): CelValue {
    work(nsPerElement);
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }
}

export class ValueList extends CelList {
  static readonly empty = new ValueList([]);
  readonly #values: readonly CelValue[];

  constructor(values: readonly CelValue[]) {
    super();
    this.#values = values;
  }

  override get size(): number {
    return this.#values.length;
  }

  override at(index: number): CelValue {
    return this.#values[index]!;
  }
}

/**
 * A list that a comprehension grows: `@result + [x]` would copy the list at every step, so the loop appends in place to a list that is not
 * visible elsewhere yet.
 */
export class GrowingList extends CelList {
  readonly values: CelValue[] = [];

  override get size(): number {
    return this.values.length;
  }

  override at(index: number): CelValue {
    return this.values[index]!;
  }
}
