/**
 * The size of a default once the defaults below it are filled in, computed from the schema alone. Lists of empty objects
 * multiply: with 100 items on each of four levels, 2 KB of schema describe 100 million objects.
 */

import { isObject } from '../../object.ts';
import { fieldNode } from './node.ts';
import type { SchemaNode } from './node.ts';

export interface DefaultSize {
  /** Values of every type, the default itself included. */
  readonly nodes: number;
  /** Keys and scalars, approximately as JSON. */
  readonly bytes: number;
}

/** Nodes that defaults may add to one object, and to one default of a schema. */
export const defaultedNodesMax = 50_000;
/** Bytes that they may add: as much as a request body may have. */
export const defaultedBytesMax = 3 * 1024 * 1024;

export const isTooLarge = ({ nodes, bytes }: DefaultSize): boolean =>
  nodes > defaultedNodesMax || bytes > defaultedBytesMax;

const sizes = new WeakMap<SchemaNode, DefaultSize>();

/** Computed once for each schema node. The node must have a default. */
export function defaultSizeOf(node: SchemaNode): DefaultSize {
  let size = sizes.get(node);
  if (!size) sizes.set(node, (size = sizeOf(node.defaultValue, node)));
  return size;
}

/** Size of a value below `node`, with its missing defaults. */
function sizeOf(value: unknown, node: SchemaNode | undefined): DefaultSize {
  let nodes = 1;
  let bytes = 2;
  const add = (size: DefaultSize, name = ''): void => {
    nodes += size.nodes;
    bytes += size.bytes + name.length + 4;
  };
  if (Array.isArray(value)) for (const item of value) add(sizeOf(replaced(item, node?.items), node?.items));
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const field = node && fieldNode(node, name);
      add(sizeOf(replaced(value[name], field), field), name);
    }
    for (const [name, field] of node?.defaulted ?? []) {
      if (!Object.hasOwn(value, name)) add(defaultSizeOf(field), name);
    }
  } else bytes += typeof value === 'string' ? value.length : 8;
  return { nodes, bytes };
}

/** A null that the schema does not allow becomes the default. */
const replaced = (value: unknown, node: SchemaNode | undefined): unknown =>
  value === null && node !== undefined && !node.isNullable ? (node.defaultValue ?? null) : value;
