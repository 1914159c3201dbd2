/**
 * Error of kube-apiserver for a strategic merge patch whose result does not match its type: it does not decode the result but fills its
 * types from it, which fails with other messages than its decoder's.
 */

import type { StructType, ValueType } from '../builtin/types.ts';
import { isObject } from '../object.ts';

/**
 * Returns the first mismatch of a composed value, or undefined. Scalars, and types that decode their own JSON, are left to `checkFields`.
 */
export function restoreProblem(struct: StructType, object: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, field] of struct.properties) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const problem = value === null || value === undefined ? undefined : valueProblem(field.type, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function valueProblem(type: ValueType, value: unknown): string | undefined {
  switch (type.kind) {
    case 'struct':
      if (type.struct.shape !== undefined) return undefined;
      return isObject(value) ? restoreProblem(type.struct, value) : `cannot restore struct from: ${goKind(value)}`;
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${goKind(value)}`;
      return firstProblem(type.element!, value);
    case 'map':
      if (!isObject(value)) return `cannot restore map from ${goKind(value)}`;
      return firstProblem(type.element!, Object.values(value));
    case 'string':
      return typeof value === 'object' ? 'unrecognized type: string' : undefined;
    default:
      return undefined;
  }
}

function firstProblem(type: ValueType, values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const problem = value === null || value === undefined ? undefined : valueProblem(type, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'object' ? 'map' : typeof value;
}
