/**
 * Kubernetes' JSONPath: evaluates a path on an object. A missing key yields no values, as the columns of custom resources require.
 *
 * Go distinguishes 1 from 1.0 in comparisons, and visits maps in random order; here a whole number is an integer, and maps are visited in
 * the order of the object.
 */

import { isObject } from '../object.ts';
import { JsonPathError, parsePath } from './json-path-parser.ts';
import type { FilterNode, Path, PathNode, SliceNode } from './json-path-parser.ts';

export { JsonPathError } from './json-path-parser.ts';
export type { JsonPathErrorCode } from './json-path-parser.ts';

export interface JsonPath {
  /** Returns the values in order. Throws JsonPathMismatch or JsonPathTooCostly. Paths that are used together may share a budget. */
  find(object: unknown, budget?: VisitBudget): unknown[];
}

/** Without the braces of a template, as in `additionalPrinterColumns`. Throws InvalidJsonPath. */
export function parseJsonPath(text: string): JsonPath {
  const path = parsePath(text);
  return { find: (object, budget = visitBudget()) => walk([object], path, budget) };
}

/** `..` and unions multiply: a short path in a large object could visit an enormous number of values. */
const visitsMax = 100_000;

/** Number of values that may still be visited. */
export interface VisitBudget {
  left: number;
}

export const visitBudget = (): VisitBudget => ({ left: visitsMax });

const mismatch = (message: string): JsonPathError => new JsonPathError('JsonPathMismatch', message);

function walk(values: readonly unknown[], path: Path, budget: VisitBudget): unknown[] {
  let found = [...values];
  for (const node of path) {
    found = step(found, node, budget);
    spend(budget, found.length + 1);
  }
  return found;
}

/** Throws JsonPathTooCostly. */
export function spend(budget: VisitBudget, visits: number): void {
  budget.left -= visits;
  if (budget.left < 0) throw new JsonPathError('JsonPathTooCostly', `more than ${visitsMax} values to visit`);
}

function step(values: readonly unknown[], node: PathNode, budget: VisitBudget): unknown[] {
  switch (node.kind) {
    case 'field':
      return values.flatMap((value) => (isObject(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []));
    case 'wildcard':
      return gather(values, children, budget);
    case 'recursive':
      return values.flatMap((value) => descendants(value, budget));
    case 'union':
      return gather(node.paths, (path) => walk(values, path, budget), budget);
    case 'literal':
      return values.map(() => node.value);
    case 'text':
      return [node.value];
    case 'slice':
      return sliceAll(values, node, budget);
    case 'filter':
      return gather(values, (value) => filter(value, node, budget), budget);
    case 'identifier':
      throw mismatch(`unrecognized identifier ${node.name}`);
  }
}

function gather<From>(
  from: readonly From[],
  findIn: (one: From) => readonly unknown[],
  budget: VisitBudget,
): unknown[] {
  const found: unknown[] = [];
  for (const one of from) {
    const some = findIn(one);
    spend(budget, some.length);
    for (const value of some) found.push(value);
  }
  return found;
}

/** A text has its bytes as children, as in Go. */
function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return Object.values(value);
  return typeof value === 'string' ? [...Buffer.from(value)] : [];
}

/** Returns the value itself first, then the descendants, depth first; values without children are left out. */
function descendants(root: unknown, budget: VisitBudget): unknown[] {
  const found: unknown[] = [];
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    spend(budget, 1);
    if (typeof value === 'string') {
      if (value !== '') found.push(value);
      continue;
    }
    const inner = children(value);
    if (inner.length > 0) found.push(value);
    for (let i = inner.length - 1; i >= 0; i--) pending.push(inner[i]);
  }
  return found;
}

/** An index out of bounds is a mismatch and not clipped. A list with an empty slice stops the evaluation. */
function sliceAll(values: readonly unknown[], node: SliceNode, budget: VisitBudget): unknown[] {
  const found: unknown[] = [];
  for (const list of values) {
    if (list === null) continue;
    if (!Array.isArray(list)) throw mismatch(`${goType(list)} is not array or slice`);
    const [start, end] = bounds(node, list.length);
    if (start === end) return found;
    const { step = 1 } = node;
    if (step <= 0) throw mismatch('step must be > 0');
    spend(budget, Math.ceil((end - start) / step));
    for (let i = start; i < end; i += step) found.push(list[i]);
  }
  return found;
}

function bounds(node: SliceNode, length: number): [start: number, end: number] {
  let { start = 0 } = node;
  let end = node.isIndex ? start + 1 : (node.end ?? length);
  if (start < 0) start += length;
  if (end < 0 || (end === 0 && node.isIndex)) end += length;
  if (start === end) return [start, end];
  if (start >= length || start < 0) throw outOfBounds(start, length);
  if (end > length || end < 0) throw outOfBounds(end - 1, length);
  if (start > end) throw mismatch(`starting index ${start} is greater than ending index ${end}`);
  return [start, end];
}

const outOfBounds = (index: number, length: number): JsonPathError =>
  mismatch(`array index out of bounds: index ${index}, length ${length}`);

function goType(value: unknown): string {
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function filter(list: unknown, node: FilterNode, budget: VisitBudget): unknown[] {
  if (!Array.isArray(list)) throw mismatch(`${goType(list)} is not array or slice and cannot be filtered`);
  return list.filter((element: unknown) => {
    spend(budget, 1);
    if (node.operator === 'exists') return exists(element, node.left, budget);
    const left = single(walk([element], node.left, budget));
    if (left.length === 0) return false;
    const right = single(walk([element], node.right, budget));
    return right.length > 0 && compare(left[0], node.operator, right[0]);
  });
}

/** A mismatch counts as found, as in Go: kubectl users rely on it. */
function exists(element: unknown, path: Path, budget: VisitBudget): boolean {
  try {
    return walk([element], path, budget).length > 0;
  } catch (error) {
    if (error instanceof JsonPathError && error.code === 'JsonPathMismatch') return true;
    throw error;
  }
}

function single(values: readonly unknown[]): readonly unknown[] {
  if (values.length > 1) throw mismatch('can only compare one element at a time');
  return values;
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (!['<', '>', '==', '!=', '<=', '>='].includes(operator))
    throw mismatch(`unrecognized filter operator ${operator}`);
  const [leftKind, rightKind] = [left, right].map(basicKind);
  if (leftKind !== rightKind) throw mismatch('incompatible types for comparison');
  const isOrder = operator !== '==' && operator !== '!=';
  if (isOrder && leftKind === 'bool') throw mismatch('invalid type for comparison');
  const [a, b] = [left as string | number, right as string | number];
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

function basicKind(value: unknown): string {
  if (typeof value === 'object') throw mismatch('invalid type for comparison');
  return goType(value);
}
