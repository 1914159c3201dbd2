/** Merge types of the built-in kinds, as kube-apiserver derives them from its OpenAPI document. */

import type { Field, StructType, ValueType } from '../builtin/types.ts';
import { structType } from '../builtin/types.ts';
import { normalise } from '../fields/normalise.ts';
import type { MergeField } from './merge-type.ts';
import { deducedMergeType, ListMerge, MapMerge, MergeType, scalarTypes, untypedAtomic } from './merge-type.ts';

const types = new WeakMap<StructType, MergeType>();
/** Like above with the opposite of the struct's setting, for fields that override it. */
const overridden = new WeakMap<StructType, MergeType>();

/** The same type for the same struct. */
export function mergeTypeOfBuiltin(struct: StructType): MergeType {
  let type = types.get(struct);
  if (!type) {
    const map = structMap(struct);
    // A schema of several shapes has no type in OpenAPI.
    type =
      struct.shape === undefined ? new MergeType({ map, makeEmpty: () => normalise(struct, {}) }) : deducedMergeType;
    types.set(struct, type);
  }
  return type;
}

/** Type of the metadata, which custom resources have too. */
export const objectMetaType = (): MergeType => mergeTypeOfBuiltin(structType('meta/v1.ObjectMeta'));

function structMap(struct: StructType): MapMerge {
  const { isAtomic } = struct;
  // OpenAPI calls an object without properties free-form.
  if (struct.properties.size === 0) return new MapMerge({ isAtomic, element: () => deducedMergeType });
  return new MapMerge({ isAtomic, find: (name) => fieldOf(struct, name) });
}

const untrackedList = new MergeType({ list: new ListMerge('atomic', [], () => untypedAtomic), isUntracked: true });

function fieldOf(struct: StructType, name: string): MergeField | undefined {
  const field = struct.properties.get(name);
  if (!field) return undefined;
  if (name === 'managedFields' && struct.id === 'meta/v1.ObjectMeta')
    return { type: untrackedList, default: undefined };
  return { type: typeOfField(field), default: defaultOf(field) };
}

/** OpenAPI shows explicit defaults, and the zero of fields that are neither pointers nor ever omitted. */
function defaultOf({ default: explicit, isPointer, omitEmpty, type: { kind } }: Field): unknown {
  if (explicit !== undefined || isPointer || omitEmpty) return explicit;
  if (kind === 'string') return '';
  if (kind === 'bool') return false;
  return kind === 'int32' || kind === 'int64' || kind === 'double' ? 0 : undefined;
}

function typeOfField(field: Field): MergeType {
  const { type, listType, mapType } = field;
  if (type.kind === 'list') {
    const element = (): MergeType => typeOfValue(type.element!);
    if (listType !== undefined) return new MergeType({ list: new ListMerge(listType, field.mapKeys, element) });
    return new MergeType({ list: patchedList(field, element) });
  }
  if (type.kind === 'map') return mapOf(type, mapType === 'atomic');
  if (type.kind === 'struct' && mapType !== undefined) return structWith(type.struct, mapType === 'atomic');
  return typeOfValue(type);
}

/** Without a list type, the strategy for strategic merge patches counts. */
function patchedList({ patchStrategies, mergeKey }: Field, element: () => MergeType): ListMerge {
  if (!patchStrategies.includes('merge')) return new ListMerge('atomic', [], element);
  return mergeKey === undefined ? new ListMerge('set', [], element) : new ListMerge('map', [mergeKey], element);
}

function structWith(struct: StructType, isAtomic: boolean): MergeType {
  const type = mergeTypeOfBuiltin(struct);
  if (!type.map || type.map.isAtomic === isAtomic) return type;
  let other = overridden.get(struct);
  if (!other) {
    other = new MergeType({ map: type.map.withAtomic(isAtomic) });
    overridden.set(struct, other);
  }
  return other;
}

const mapOf = ({ element }: ValueType, isAtomic: boolean): MergeType =>
  new MergeType({ map: new MapMerge({ isAtomic, element: () => typeOfValue(element!) }) });

function typeOfValue(type: ValueType): MergeType {
  switch (type.kind) {
    case 'string':
    case 'bytes':
    case 'duration':
      return scalarTypes.string;
    case 'bool':
      return scalarTypes.boolean;
    case 'int32':
    case 'int64':
    case 'double':
      return scalarTypes.numeric;
    case 'quantity':
    case 'time':
    case 'microtime':
      return scalarTypes.untyped;
    case 'raw':
      return untypedAtomic;
    case 'fieldsv1':
      return fieldsV1;
    case 'struct':
      return mergeTypeOfBuiltin(type.struct);
    case 'map':
      return mapOf(type, false);
    case 'list':
      return new MergeType({ list: new ListMerge('atomic', [], () => typeOfValue(type.element!)) });
    default:
      return deducedMergeType;
  }
}

const fieldsV1 = new MergeType({ map: new MapMerge({ element: () => deducedMergeType }) });
