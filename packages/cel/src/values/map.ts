/**
 * Maps. Keys are bool, int, uint and string; numerically equal keys of different types are one key, so a key is looked up under its plain
 * form (`1u` and `1.0` under `1`) and stored as it was written.
 */

import { fail } from '../errors.ts';
import { canonical } from './integers.ts';
import { work } from '../work.ts';
import { Boxed, Double, Uint } from './values.ts';
import type { CelValue, Equality } from './values.ts';

const nsPerEntry = 50;

export type PlainKey = string | number | bigint | boolean;

/** Returns the plain form of a key; undefined if no key can equal it. */
export function plainKey(key: CelValue): PlainKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return key;
    default:
      if (key instanceof Uint) return canonical(key.value);
      if (key instanceof Double && Number.isInteger(key.value)) return canonical(BigInt(key.value));
      return undefined;
  }
}

export function formatKey(key: CelValue): string {
  return key instanceof Uint || key instanceof Double ? String(key.value) : String(key);
}

export abstract class CelMap extends Boxed {
  abstract readonly size: number;
  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): readonly CelValue[];

  override get typeName(): string {
    return 'map';
  }

  get(key: CelValue): CelValue {
    const value = this.find(key);
    return value === undefined ? fail(`no such key: ${formatKey(key)}`) : value;
  }

  has(key: CelValue): boolean {
    return this.find(key) !== undefined;
  }

  equals(other: CelMap, equal: Equality): boolean {
    if (other.size !== this.size) return false;
    for (const key of this.keys()) {
      work(nsPerEntry);
      const value = other.find(key);
      if (value === undefined || !equal(this.get(key), value)) return false;
    }
    return true;
  }
}

export class ValueMap extends CelMap {
  readonly #entries: Map<PlainKey, readonly [key: CelValue, value: CelValue]>;

  constructor(entries: Iterable<readonly [CelValue, CelValue]> = []) {
    super();
    this.#entries = new Map();
    for (const [key, value] of entries) this.insert(key, value);
  }

  /** Only for the builder of the map: it is immutable once it is visible elsewhere. */
  insert(key: CelValue, value: CelValue): void {
    const plain = plainKey(key);
    if (plain === undefined || key instanceof Double) fail('unsupported key type');
    if (this.#entries.has(plain)) fail(`insert failed: key ${formatKey(key)} already exists`);
    this.#entries.set(plain, [key, value]);
  }

  override get size(): number {
    return this.#entries.size;
  }

  override find(key: CelValue): CelValue | undefined {
    const plain = plainKey(key);
    return plain === undefined ? undefined : this.#entries.get(plain)?.[1];
  }

  override keys(): readonly CelValue[] {
    work(this.#entries.size * nsPerEntry);
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  copy(): ValueMap {
    return new ValueMap(this.#entries.values());
  }
}
