/**
 * Type information for a strategic merge patch: the field of a key, how it merges, and the merge key of its elements. The messages are
 * those of kube-apiserver, which shows Go's view of the types.
 */

import type { Field, StructType, ValueKind, ValueType } from '../builtin/types.ts';
import { quote } from '../status/field-error.ts';
import { UnclassifiedError } from '../status/status.ts';

export interface PatchSchema {
  /** Go's kind of the type: `struct`, `map`, `slice`, …, `ptr`. */
  readonly goKind: string;
  /** The type, for a pointer the one pointed to; undefined for types without fields. */
  readonly struct: StructType | undefined;
  readonly type: ValueType | undefined;
}

export interface FieldSchema {
  readonly schema: PatchSchema;
  /** `merge`, `replace` or empty; `retainKeys` is not included, its directive works everywhere. */
  readonly strategy: string;
  /** Empty if elements have none. */
  readonly mergeKey: string;
}

const goKinds: Readonly<Partial<Record<ValueKind, string>>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: 'slice',
  any: 'interface',
  list: 'slice',
  map: 'map',
};
const goKindOf = ({ kind }: ValueType): string => goKinds[kind] ?? 'struct';

export const schemaOfStruct = (struct: StructType): PatchSchema => ({ goKind: 'struct', struct, type: undefined });

const schemaOfType = (type: ValueType, isPointer: boolean): PatchSchema => ({
  goKind: isPointer ? 'ptr' : goKindOf(type),
  struct: type.kind === 'struct' ? type.struct : undefined,
  type,
});

/** For a key whose value is an object. */
export function objectField(schema: PatchSchema, key: string): FieldSchema {
  const field = fieldOf(schema, key);
  return describe(field, schemaOfType(field.type, field.isPointer));
}

/** For a key whose value is a list: the schema is that of its elements. */
export function listField(schema: PatchSchema, key: string): FieldSchema {
  const field = fieldOf(schema, key);
  const { element } = field.type;
  if (goKindOf(field.type) === 'slice') {
    if (element && goKindOf(element) === 'slice') throw new UnclassifiedError('unexpected slice of slice');
    return describe(field, schemaOfType(element ?? field.type, false));
  }
  if (field.isPointer) return describe(field, schemaOfType(field.type, false));
  throw new UnclassifiedError(`expected slice or array type, but got: ${schema.goKind}`);
}

function describe(field: Field, schema: PatchSchema): FieldSchema {
  const strategy = field.patchStrategies.find((one) => one !== 'retainKeys') ?? '';
  return { schema, strategy, mergeKey: field.mergeKey ?? '' };
}

function fieldOf({ struct, type }: PatchSchema, key: string): Field {
  if (!struct && type && goKindOf(type) !== 'struct') {
    throw new UnclassifiedError(`merging an object in json but data type is not struct, instead is: ${goKindOf(type)}`);
  }
  const found = struct?.properties.get(key) ?? (struct && fieldIgnoringCase(struct, key));
  if (found) return found;
  const name = struct?.name ?? type!.goName.split('.').at(-1);
  throw new UnclassifiedError(`unable to find api field in struct ${name} for the json field ${quote(key)}`);
}

function fieldIgnoringCase(struct: StructType, key: string): Field | undefined {
  const wanted = key.toLowerCase();
  for (const [name, field] of struct.properties) if (name.toLowerCase() === wanted) return field;
  return undefined;
}
