/**
 * Reuses nodes of field sets. Most objects of a kind have the same fields, so the set of a new object mostly consists of nodes
 * that were built for earlier ones:
 *
 *   {"limits":{"memory":"1Gi"}}   and   {"limits":{"memory":"2Gi"}}   have the node   {".":{},"f:limits":{".":{},"f:memory":{}}}
 *
 * Kept nodes are frozen, because objects of different control planes share them. The memory for all of them is limited.
 */

import type { FieldSet } from './field-set.ts';
import { leaf, nodeOf } from './field-set.ts';
import type { ListMerge, MapMerge } from './merge-type.ts';

type Owner = MapMerge | ListMerge;

/** The last node that was built for a list of names. */
interface KnownNode {
  readonly isSelf: boolean;
  readonly names: readonly string[];
  children: readonly FieldSet[];
  node: FieldSet;
}

const nodesOfOwnerMax = 8;
const namesMax = 48;
/** In characters of names, with an allowance for each node. */
const sizeOfNode = 64;
const sizeMax = 16_384;
const totalSizeMax = 4_000_000;

let known = new WeakMap<Owner, KnownNode[]>();
let sizes = new WeakMap<FieldSet, number>();
let totalSize = 0;

/** Like `nodeOf` of at least one field. `names` are keys, and no name occurs twice. */
export const nodeOfKeys = (map: MapMerge, isSelf: boolean, names: string[], children: readonly FieldSet[]): FieldSet =>
  knownNode(map, isSelf, names, children) ??
  keep(map, { isSelf, names, children, node: nodeOf(isSelf, names.map(fieldElement), children)! });

/** The same for elements of a list. */
export const nodeOfItems = (
  list: ListMerge,
  isSelf: boolean,
  names: string[],
  children: readonly FieldSet[],
): FieldSet =>
  knownNode(list, isSelf, names, children) ??
  keep(list, { isSelf, names, children, node: nodeOf(isSelf, names, children)! });

const fieldElement = (name: string): string => `f:${name}`;

function knownNode(
  owner: Owner,
  isSelf: boolean,
  names: readonly string[],
  children: readonly FieldSet[],
): FieldSet | undefined {
  const nodes = known.get(owner);
  if (!nodes) return undefined;
  for (const one of nodes) {
    if (one.isSelf === isSelf && isSame(one.names, names) && isSame(one.children, children)) return one.node;
  }
  return undefined;
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Returns the node. It is kept if it is small, and if all that is below it is kept. */
function keep(owner: Owner, made: KnownNode): FieldSet {
  const { node, names, children } = made;
  const size = names.length > namesMax ? Infinity : sizeOf(names, children);
  if (size > sizeMax) return node;
  totalSize += size;
  if (totalSize > totalSizeMax) {
    known = new WeakMap();
    sizes = new WeakMap();
    totalSize = size;
  }
  sizes.set(Object.freeze(node), size);
  const nodes = known.get(owner);
  if (!nodes) known.set(owner, [made]);
  else {
    if (nodes.length >= nodesOfOwnerMax) nodes.shift();
    nodes.push(made);
  }
  return node;
}

function sizeOf(names: readonly string[], children: readonly FieldSet[]): number {
  let size = sizeOfNode;
  for (const name of names) size += name.length;
  for (const child of children) if (child !== leaf) size += sizes.get(child) ?? Infinity;
  return size;
}
