/**
 * Equality as Kubernetes means it when it asks whether a field changed: by the schema, so that absent and zero are the
 * same where the server cannot tell them apart, quantities are numbers and times are instants.
 */

import { structType } from '../../../builtin/types.ts';
import type { Field, StructType, ValueType } from '../../../builtin/types.ts';
import type { JsonObject } from '../../../object.ts';
import { parseTime } from '../../../values/time.ts';
import { isSet } from './checks.ts';
import { compareQuantities } from './quantities.ts';

/** `struct` is an id of the table of types, such as `core/v1.PodSpec`. Absent structs are as empty ones. */
export const equalStructs = (struct: string, a: unknown, b: unknown): boolean =>
  structsAreEqual(structType(struct), (a ?? {}) as JsonObject, (b ?? {}) as JsonObject);

/** The same for what may be absent: absent differs from empty. */
export const equalPointers = (struct: string, a: unknown, b: unknown): boolean =>
  isSet(a) && isSet(b) ? equalStructs(struct, a, b) : isSet(a) === isSet(b);

/** The names of the fields that differ. */
export const changedFields = (struct: string, a: object | undefined, b: object | undefined): readonly string[] =>
  [...structType(struct).properties.values()]
    .filter((field) => !fieldsAreEqual(field, (a ?? {}) as JsonObject, (b ?? {}) as JsonObject))
    .map(({ name }) => name);

function structsAreEqual(struct: StructType, a: JsonObject, b: JsonObject): boolean {
  if (a === b) return true;
  return [...struct.properties.values()].every((field) => fieldsAreEqual(field, a, b));
}

function fieldsAreEqual({ name, type, isPointer }: Field, a: JsonObject, b: JsonObject): boolean {
  const [one, other] = [a[name], b[name]];
  if (one === other) return true;
  if (isPointer && isSet(one) !== isSet(other)) return false;
  return valuesAreEqual(type, one, other);
}

function valuesAreEqual(type: ValueType, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  switch (type.kind) {
    case 'struct':
      return structsAreEqual(type.struct, (a ?? {}) as JsonObject, (b ?? {}) as JsonObject);
    case 'list':
      return listsAreEqual(type.element!, (a ?? []) as unknown[], (b ?? []) as unknown[]);
    case 'map':
      return mapsAreEqual(type.element!, (a ?? {}) as JsonObject, (b ?? {}) as JsonObject);
    case 'quantity':
      return compareQuantities(String(a ?? '0'), String(b ?? '0')) === 0;
    case 'time':
    case 'microtime':
      return timesAreEqual(a, b, type.kind === 'time' ? 'second' : 'micro');
    case 'string':
    case 'bytes':
      return (a ?? '') === (b ?? '');
    case 'bool':
      return (a ?? false) === (b ?? false);
    case 'int32':
    case 'int64':
    case 'double':
    case 'intorstring':
      return (a ?? 0) === (b ?? 0);
    default:
      return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  }
}

const listsAreEqual = (element: ValueType, a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, i) => valuesAreEqual(element, item, b[i]));

function mapsAreEqual(element: ValueType, a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && valuesAreEqual(element, a[key], b[key]));
}

function timesAreEqual(a: unknown, b: unknown, precision: 'second' | 'micro'): boolean {
  if (!isSet(a) || !isSet(b)) return isSet(a) === isSet(b);
  const [one, other] = [parseTime(String(a), precision), parseTime(String(b), precision)];
  return one.seconds === other.seconds && one.nanos === other.nanos;
}
