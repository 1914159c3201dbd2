/**
 * Compares two values with the semantics of Kubernetes. Absent equals empty for lists and maps and equals zero for fields that are not
 * pointers, but a pointer to an empty value is not nil; quantities and times are compared by value.
 */

import { structType } from '../builtin/types.ts';
import type { StructType, ValueType } from '../builtin/types.ts';
import { isAbsent, isEmpty } from '../defaults/access.ts';
import { quantityText } from '../defaults/resource-list.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { parseQuantity } from '../values/quantity.ts';
import { parseTime } from '../values/time.ts';

/** Compares at a dotted path below a struct, such as `spec.template`. */
export function equalAt(struct: StructType, path: string, a: JsonObject, b: JsonObject): boolean {
  let [type, left, right]: [StructType, JsonObject, JsonObject] = [struct, a, b];
  const names = path.split('.');
  for (const [depth, name] of names.entries()) {
    const field = type.properties.get(name);
    if (!field) return equalJson(left[name], right[name]);
    if (depth === names.length - 1) return equalField(field.type, field.isPointer, left[name], right[name]);
    type = field.type.struct;
    left = isObject(left[name]) ? left[name] : {};
    right = isObject(right[name]) ? right[name] : {};
  }
  return true;
}

/** `struct` is an id of the table of types, such as `core/v1.PodSpec`. An absent struct equals an empty one. */
export const equalStructs = (struct: string, a: unknown, b: unknown): boolean =>
  structsAreEqual(structType(struct), (a ?? {}) as JsonObject, (b ?? {}) as JsonObject);

/** Like `equalStructs`, but absent differs from empty. */
export const equalPointers = (struct: string, a: unknown, b: unknown): boolean =>
  isAbsent(a) === isAbsent(b) && equalStructs(struct, a, b);

/** Returns the names of the fields that differ. */
export const changedFields = (struct: string, a: object | undefined, b: object | undefined): readonly string[] => {
  const [one, other] = [(a ?? {}) as JsonObject, (b ?? {}) as JsonObject];
  return [...structType(struct).properties.values()]
    .filter(({ name, type, isPointer }) => !equalField(type, isPointer, one[name], other[name]))
    .map(({ name }) => name);
};

function equalField(type: ValueType, isPointer: boolean, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isPointer && isAbsent(a) !== isAbsent(b)) return false;
  return equalValues(type, a, b);
}

function structsAreEqual(struct: StructType, a: JsonObject, b: JsonObject): boolean {
  if (a === b) return true;
  const { properties } = struct;
  // Few of many fields are present: only those are compared.
  const equalNamed = (name: string): boolean => {
    const field = properties.get(name);
    return field === undefined || equalField(field.type, field.isPointer, a[name], b[name]);
  };
  for (const name of Object.keys(a)) if (!equalNamed(name)) return false;
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name) && !equalNamed(name)) return false;
  return true;
}

function equalValues(type: ValueType, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  switch (type.kind) {
    case 'struct':
      if (type.struct.shape !== undefined) return equalJson(a, b);
      return structsAreEqual(type.struct, isObject(a) ? a : {}, isObject(b) ? b : {});
    case 'list':
      return equalLists(type.element!, Array.isArray(a) ? a : [], Array.isArray(b) ? b : []);
    case 'map':
      return equalMaps(type.element!, isObject(a) ? a : {}, isObject(b) ? b : {});
    case 'quantity':
      return quantity(a) === quantity(b);
    case 'time':
    case 'microtime':
      return instant(a, type.kind) === instant(b, type.kind);
    case 'json':
    case 'raw':
    case 'any':
    case 'fieldsv1':
      return equalJson(a, b);
    default:
      return isEmpty(a) && isEmpty(b);
  }
}

function equalLists(element: ValueType, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalValues(element, a[i], b[i])) return false;
  return true;
}

function equalMaps(element: ValueType, a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalValues(element, a[key], b[key]));
}

const quantity = (value: unknown): bigint => parseQuantity(quantityText(value)).nanos;

function instant(value: unknown, kind: 'time' | 'microtime'): string {
  if (typeof value !== 'string') return '';
  const { seconds, nanos } = parseTime(value, kind === 'time' ? 'second' : 'micro');
  return `${seconds}.${nanos}`;
}

/** Compares free-form JSON. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b || (isAbsent(a) && isAbsent(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => equalJson(one, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}
