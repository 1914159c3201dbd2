/**
 * Sets of fields. A set has the form of `fieldsV1` on the wire: an object whose keys are path elements in canonical form and order, so
 * nothing is parsed or written on the hot path, and sets share the parts in which they do not differ.
 *
 *   { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } }, "f:data": {} }
 *
 * holds `.data`, `.metadata.labels` and `.metadata.labels.app`: an empty object is a member, `.` marks a member that also has members below
 * it. Sets are immutable. Only `parseFieldSet` makes sets of foreign objects.
 */

import { once } from '@hangar/cel/work';
import { isObject } from '../object.ts';
import type { ListMerge } from './merge-type.ts';
import {
  canonicalElement,
  compareElements,
  ElementError,
  isCanonicalElement,
  orderOf,
  showElement,
} from './path-element.ts';
import { isEmptyObject } from './values.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

type Building = Record<string, FieldSet>;

/** As a set: no fields. As a node: the field itself and nothing below it. */
export const leaf: FieldSet = Object.freeze({});
export const noFields: FieldSet = leaf;

/**
 * Marks nodes of many elements, which are known not to be empty: reading the first key of an object with thousands of keys takes as long as
 * reading all of them.
 */
const wide = Symbol('wide');
const wideFrom = 64;
/** Nodes with more elements are made in parts: see `once`. */
const slowFrom = 5_000;

export const atOnce = <T>(compute: () => T): T => compute();

/** Returns how to compute the results for the items of a list: if there are many lists or objects, each is a part. */
export const partOf = ({ element }: ListMerge, count: number): typeof atOnce =>
  count > wideFrom && (element.map || element.list) ? once : atOnce;

function markWide(node: object): void {
  if (Object.isExtensible(node)) Object.defineProperty(node, wide, { value: true });
}

export const isEmptySet = (set: FieldSet): boolean =>
  set === leaf || ((set as { [wide]?: true })[wide] === undefined && isEmptyObject(set));

/** Reports whether the field at this node is in the set. */
export const isMember = (node: FieldSet): boolean => node['.'] !== undefined || isEmptySet(node);

/** `children` in any order. Returns undefined if there is neither the field itself nor anything below. */
export function nodeOf(isSelf: boolean, elements: string[], children: readonly FieldSet[]): FieldSet | undefined {
  if (elements.length === 0) return isSelf ? leaf : undefined;
  const isSlow = elements.length > slowFrom;
  const order = isSlow ? once(() => orderOf(elements)) : orderOf(elements);
  const build = (): FieldSet => {
    const node: Building = {};
    if (isSelf) node['.'] = leaf;
    for (let i = 0; i < elements.length; i++) {
      const at = order ? order[i]! : i;
      node[elements[at]!] = children[at]!;
    }
    if (elements.length > wideFrom) markWide(node);
    return node;
  };
  return isSlow ? once(build) : build();
}

/** Returns the set of dotted paths of fields, such as `metadata.name`. */
export function fieldSetOf(paths: readonly string[]): FieldSet {
  return paths.reduce<FieldSet>((set, path) => {
    const one = path.split('.').reduceRight<FieldSet>((below, name) => ({ [`f:${name}`]: below }), leaf);
    return union(set, one);
  }, noFields);
}

/** Returns `a` itself if nothing of `b` is new. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : (unionBelow(a, b, false) ?? noFields);
}

function unionBelow(a: FieldSet, b: FieldSet, isSelf: boolean): FieldSet | undefined {
  let isChanged = isSelf && a['.'] === undefined;
  const elements: string[] = [];
  const children: FieldSet[] = [];
  for (const element in a) {
    if (element === '.') continue;
    const left = a[element]!;
    const right = b[element];
    const both = right === undefined || right === left ? left : unionNodes(left, right);
    if (both !== left) isChanged = true;
    elements.push(element);
    children.push(both);
  }
  for (const element in b) {
    if (element === '.' || a[element] !== undefined) continue;
    isChanged = true;
    elements.push(element);
    children.push(b[element]!);
  }
  return isChanged ? nodeOf(isSelf, elements, children) : a;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return isMember(a) ? a : { '.': leaf, ...a };
  if (isEmptySet(a)) return isMember(b) ? b : { '.': leaf, ...b };
  return unionBelow(a, b, isMember(a) || isMember(b))!;
}

/** Returns the union of many sets, in time proportional to the sum of their sizes times the logarithm of their number. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? noFields;
  const half = sets.length >> 1;
  return union(unionOfAll(sets.slice(0, half)), unionOfAll(sets.slice(half)));
}

/** The set that is walked: the smaller one, if known. */
export type Walked = 'first' | 'second';

/** Returns the members of `a` that are not members of `b`; `a` itself if none is in `b`. */
export const difference = (a: FieldSet, b: FieldSet, walked: Walked = 'second'): FieldSet =>
  subtract(a, b, { wasSelf: false, isSelf: false, isBelow: false, walked }) ?? noFields;

/** Like `difference`, but also removes everything below a member of `b`. */
export const differenceBelow = (a: FieldSet, b: FieldSet): FieldSet =>
  subtract(a, b, { wasSelf: false, isSelf: false, isBelow: true, walked: 'second' }) ?? noFields;

interface Subtraction {
  /** Whether the node's own field was in the set, and whether it stays. */
  readonly wasSelf: boolean;
  readonly isSelf: boolean;
  readonly isBelow: boolean;
  readonly walked: Walked;
}

function subtract(a: FieldSet, b: FieldSet, how: Subtraction): FieldSet | undefined {
  const { wasSelf, isSelf } = how;
  let replaced: Map<string, FieldSet | undefined> | undefined;
  for (const element in how.walked === 'first' ? a : b) {
    if (element === '.') continue;
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined) continue;
    const rest = subtractNode(left, right, how);
    if (rest !== left) (replaced ??= new Map()).set(element, rest);
  }
  if (!replaced && wasSelf === isSelf) return a;
  const node: Building = {};
  if (isSelf) node['.'] = leaf;
  let count = 0;
  for (const element in a) {
    if (element === '.') continue;
    const child = replaced?.has(element) ? replaced.get(element) : a[element];
    if (child === undefined) continue;
    node[element] = child;
    count++;
  }
  if (count > wideFrom) markWide(node);
  if (count > 0) return node;
  return isSelf ? leaf : undefined;
}

function subtractNode(a: FieldSet, b: FieldSet, { isBelow, walked }: Subtraction): FieldSet | undefined {
  const isTaken = isMember(b);
  if (isTaken && isBelow) return undefined;
  const wasSelf = isMember(a);
  return subtract(a, b, { wasSelf, isSelf: wasSelf && !isTaken, isBelow, walked });
}

export const intersection = (a: FieldSet, b: FieldSet, walked: Walked = 'second'): FieldSet =>
  intersect(a, b, false, walked) ?? noFields;

function intersect(a: FieldSet, b: FieldSet, isSelf: boolean, walked: Walked): FieldSet | undefined {
  if (a === b) return a;
  const elements: string[] = [];
  const children: FieldSet[] = [];
  for (const element in walked === 'first' ? a : b) {
    if (element === '.') continue;
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined) continue;
    const both = intersect(left, right, isMember(left) && isMember(right), walked);
    if (both === undefined) continue;
    elements.push(element);
    children.push(both);
  }
  return nodeOf(isSelf, elements, children);
}

export const isSubset = (a: FieldSet, b: FieldSet): boolean => {
  if (a === b) return true;
  for (const element in a) {
    if (element === '.') continue;
    const right = b[element];
    if (right === undefined) return false;
    const left = a[element]!;
    if (left !== right && ((isMember(left) && !isMember(right)) || !isSubset(left, right))) return false;
  }
  return true;
};

export const equalSets = (a: FieldSet, b: FieldSet): boolean => a === b || (isSubset(a, b) && isSubset(b, a));

export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** Yields every member's path, as conflicts show it: members of one level first, then those below them. */
export function* shownPaths(set: FieldSet, prefix = ''): Generator<string> {
  for (const element in set) {
    if (element !== '.' && isMember(set[element]!)) yield prefix + showElement(element);
  }
  for (const element in set) {
    const node = set[element]!;
    if (element !== '.' && !isEmptySet(node)) yield* shownPaths(node, prefix + showElement(element));
  }
}

const parsedSets = new WeakSet<object>();

/** Marks the set as parsed, so that `parseFieldSet` skips it. */
export function asParsed(set: FieldSet): FieldSet {
  if (set !== noFields) parsedSets.add(set);
  return set;
}

/**
 * Parses `fieldsV1` as stored or sent. Returns the same object if it is canonical already, which it is unless a client made it. Elements of
 * an unknown kind are dropped. Throws ElementError (or SyntaxError) if it is malformed.
 */
export function parseFieldSet(fields: unknown): FieldSet {
  if (!isObject(fields)) {
    if (fields === undefined || fields === null) return noFields;
    throw new ElementError('not an object');
  }
  if (parsedSets.has(fields)) return fields as unknown as FieldSet;
  const node = isCanonical(fields, false) ? (fields as unknown as FieldSet) : (parseNode(fields, false) ?? noFields);
  if (node !== noFields) parsedSets.add(node);
  return node;
}

/** Throws on a malformed element. */
function isCanonical(node: Readonly<Record<string, unknown>>, canBeSelf: boolean): boolean {
  let previous: string | undefined;
  let isSelf = false;
  let count = 0;
  for (const element in node) {
    if (++count === wideFrom) markWide(node);
    if (element === '.') {
      if (previous !== undefined || !canBeSelf) return false;
      isSelf = true;
      continue;
    }
    const child = node[element];
    if (!isObject(child) || !isCanonicalElement(element) || !isCanonical(child, true)) return false;
    if (previous !== undefined && compareElements(previous, element) >= 0) return false;
    previous = element;
  }
  return !isSelf || previous !== undefined;
}

function parseNode(fields: Readonly<Record<string, unknown>>, canBeSelf: boolean): FieldSet | undefined {
  let isSelf = false;
  const parts = new Map<string, FieldSet>();
  for (const [text, given] of Object.entries(fields)) {
    if (text === '.') isSelf = canBeSelf;
    else {
      const element = canonicalElement(text);
      if (element === undefined) continue;
      if (!isObject(given) && given !== null) throw new ElementError('not an object');
      parts.set(element, given === null ? leaf : (parseNode(given, true) ?? leaf));
    }
  }
  return nodeOf(isSelf, [...parts.keys()], [...parts.values()]);
}
