/**
 * Defaults of the schema, and the meaning of null: a null that the schema does not allow counts as absent. It is replaced by the default,
 * or else removed.
 */

import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { cloneJson, setField } from './canonical.ts';
import { defaultedBytesMax, defaultedNodesMax, defaultSizeOf, isTooLarge } from './default-size.ts';
import { fieldNode } from './node.ts';
import type { SchemaNode } from './node.ts';

/**
 * Changes `value` in place. Throws TooManyDefaults when the defaults would add more than `default-size.ts` allows; then the
 * value is as it was before.
 */
export function applySchemaDefaults(value: unknown, node: SchemaNode): void {
  if (!node.hasDefaults) return;
  const filling = new Filling();
  try {
    filling.visit(value, node);
  } catch (error) {
    filling.undo();
    throw error;
  }
}

/** Like `applySchemaDefaults`, but returns the message of TooManyDefaults instead of throwing it. */
export function defaultsProblem(value: unknown, node: SchemaNode): string | undefined {
  try {
    applySchemaDefaults(value, node);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'TooManyDefaults') return error.message;
    throw error;
  }
}

class Filling {
  /** Parent, key and previous value of each default that was filled into the original value. */
  readonly #filled: unknown[] = [];
  #nodes = 0;
  #bytes = 0;
  /** Inside a default, whose size includes the defaults below it. */
  #isCharged = false;

  visit(value: unknown, node: SchemaNode): void {
    if (!node.hasDefaults) return;
    if (Array.isArray(value)) {
      if (node.items !== undefined) this.#visitItems(value, node.items);
    } else if (isObject(value)) {
      this.#visitFields(value, node);
    }
  }

  undo(): void {
    for (let at = this.#filled.length - 3; at >= 0; at -= 3) {
      const [parent, key, before] = this.#filled.slice(at, at + 3) as [JsonObject, string, unknown];
      if (before === undefined) delete parent[key];
      else parent[key] = before;
    }
  }

  #visitFields(object: JsonObject, node: SchemaNode): void {
    let fresh: Set<string> | undefined;
    for (const [name, field] of node.defaulted) {
      const isMissing = !Object.hasOwn(object, name) || (object[name] === null && !field.isNullable);
      if (!isMissing) continue;
      this.#fill(object, name, field);
      if (!this.#isCharged) (fresh ??= new Set()).add(name);
    }
    for (const name of Object.keys(object)) {
      const field = node.properties.get(name);
      if (field !== undefined) {
        if (!field.hasDefaults) continue;
        if (fresh?.has(name)) this.#visitFilled(object[name], field);
        else this.visit(object[name], field);
      } else if (node.others?.hasDefaults) {
        this.#visitOther(object, name, node.others);
      }
    }
  }

  #visitItems(list: unknown[], items: SchemaNode): void {
    for (let i = 0; i < list.length; i++) this.#visitOther(list, i, items);
  }

  #visitOther(parent: JsonObject | unknown[], key: string | number, node: SchemaNode): void {
    const value = (parent as JsonObject)[key];
    if (value !== null || node.isNullable || node.defaultValue === undefined) return this.visit(value, node);
    this.#fill(parent, key, node);
    this.#visitFilled((parent as JsonObject)[key], node);
  }

  #visitFilled(value: unknown, node: SchemaNode): void {
    const wasCharged = this.#isCharged;
    this.#isCharged = true;
    this.visit(value, node);
    this.#isCharged = wasCharged;
  }

  #fill(parent: JsonObject | unknown[], key: string | number, node: SchemaNode): void {
    if (!this.#isCharged) {
      const { nodes, bytes } = defaultSizeOf(node);
      this.#nodes += nodes;
      this.#bytes += bytes;
      if (isTooLarge({ nodes: this.#nodes, bytes: this.#bytes })) throw tooManyDefaults();
      this.#filled.push(parent, key, (parent as JsonObject)[key]);
    }
    setField(parent as JsonObject, String(key), cloneJson(node.defaultValue));
  }
}

const tooManyDefaults = (): ApiError =>
  new ApiError(
    'TooManyDefaults',
    `defaults of the schema add more than ${defaultedNodesMax} values or ${defaultedBytesMax} bytes to the object`,
  );

/** Removes fields that are null, may not be, and have no default. Items of lists stay: their places matter. */
export function dropNulls(value: unknown, node: SchemaNode | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) dropNulls(item, node.items);
    return;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) {
    const field = fieldNode(node, name);
    if (field === undefined) continue;
    const inner = object[name];
    if (inner === null && !field.isNullable && field.defaultValue === undefined) delete object[name];
    else dropNulls(inner, field);
  }
}
