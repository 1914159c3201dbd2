/**
 * Correlates a value with its old value in an update: fields by name, items of list maps by their keys; items of other lists are not
 * correlated, because their positions have no meaning. Equality is computed on demand, once for each node.
 */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { deepEqual } from './canonical.ts';
import { fieldNode } from './node.ts';
import type { SchemaNode } from './node.ts';

export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #node: SchemaNode;
  #isEqual: boolean | undefined;
  #oldItems: KeyedItems | undefined;
  /** Cached: equality of a parent needs that of all its children, and is computed on every level. */
  #children: Map<string | number, Correlation | undefined> | undefined;

  constructor(value: unknown, old: unknown, node: SchemaNode) {
    this.value = value;
    this.old = old;
    this.#node = node;
  }

  /** Undefined if the field is absent in the old or the new value, or has no schema. */
  field(name: string): Correlation | undefined {
    return this.#child(name, () => this.#findField(name));
  }

  item(at: number): Correlation | undefined {
    return this.#child(at, () => this.#findItem(at));
  }

  #child(id: string | number, find: () => Correlation | undefined): Correlation | undefined {
    this.#children ??= new Map();
    if (!this.#children.has(id)) this.#children.set(id, find());
    return this.#children.get(id);
  }

  #findField(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const node = fieldNode(this.#node, name);
    return node && new Correlation(value[name], old[name], node);
  }

  #findItem(at: number): Correlation | undefined {
    const { value, old } = this;
    const { items, listType } = this.#node;
    if (!Array.isArray(value) || !Array.isArray(old) || items === undefined || listType !== 'map') return undefined;
    this.#oldItems ??= new KeyedItems(this.#node, old);
    const found = this.#oldItems.find(value[at]);
    return found && new Correlation(value[at], found, items);
  }

  get isEqual(): boolean {
    return (this.#isEqual ??= this.#compare());
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old) && this.#node.listType === 'map' && value.length > 0) {
      return value.length === old.length && value.every((_, at) => this.item(at)?.isEqual ?? false);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isEqual ?? false);
    }
    return deepEqual(value, old);
  }
}

/** The items of a list map by their keys; empty for all other lists. */
export class KeyedItems {
  readonly #names: readonly string[];
  readonly #byKey = new Map<string, JsonObject>();

  constructor(node: SchemaNode, items: readonly unknown[]) {
    const isMap = node.type === 'array' && node.listType === 'map' && node.listKeys.length > 0;
    this.#names = isMap ? node.listKeys : [];
    if (!isMap) return;
    for (const item of items) {
      const id = this.#key(item);
      if (id !== undefined && !this.#byKey.has(id)) this.#byKey.set(id, item as JsonObject);
    }
  }

  /** Returns the item with the same keys. */
  find(item: unknown): JsonObject | undefined {
    const id = this.#names.length === 0 ? undefined : this.#key(item);
    return id === undefined ? undefined : this.#byKey.get(id);
  }

  #key(item: unknown): string | undefined {
    if (!isObject(item)) return undefined;
    const values: unknown[] = [];
    for (const name of this.#names) {
      const value = Object.hasOwn(item, name) ? item[name] : undefined;
      if (value === undefined || value === null || typeof value === 'object') return undefined;
      values.push(value);
    }
    return JSON.stringify(values);
  }
}
