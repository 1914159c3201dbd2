/** A message made by `Name{field: value}`. */

import { CelMap } from './map.ts';
import type { CelValue, Equality } from './values.ts';

export class StructValue extends CelMap {
  readonly #name: string;
  readonly #fields: ReadonlyMap<string, CelValue>;

  constructor(name: string, fields: Iterable<readonly [string, CelValue]>) {
    super();
    this.#name = name;
    this.#fields = new Map(fields);
  }

  override get typeName(): string {
    return this.#name;
  }

  override get size(): number {
    return this.#fields.size;
  }

  override find(key: CelValue): CelValue | undefined {
    return typeof key === 'string' ? this.#fields.get(key) : undefined;
  }

  override keys(): readonly string[] {
    return [...this.#fields.keys()];
  }

  override equals(other: CelMap, equal: Equality): boolean {
    return other.typeName === this.#name && super.equals(other, equal);
  }
}
