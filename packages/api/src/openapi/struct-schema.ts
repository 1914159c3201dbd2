/** Built-in types as OpenAPI schemas: properties, types, references, defaults and Kubernetes' extensions; few descriptions. */

import { parseApiVersion, schemaOf } from '../builtin/schemas.ts';
import type { GroupVersion } from '../builtin/schemas.ts';
import { table } from '../builtin/table.ts';
import type { Field, StructType, ValueKind, ValueType } from '../builtin/types.ts';
import { by } from '../discovery/order.ts';
import type { JsonObject } from '../object.ts';
import type { Definitions, NamedSchema } from './definitions.ts';
import { metadataProse, objectProse } from './prose.ts';
import { valueSchemas } from './value-schemas.ts';

export function structSchema(struct: StructType): NamedSchema {
  return { name: struct.openApiName, write: (definitions) => writeStruct(struct, definitions) };
}

/** A kind of meta v1, such as `Status`, that every document may refer to. */
export const metaSchema = (kind: string): NamedSchema => structSchema(metaStruct(kind));

export const metaStruct = (kind: string): StructType => schemaOf('meta.k8s.io/v1', kind)!;

function writeStruct(struct: StructType, definitions: Definitions): JsonObject {
  // A struct with several shapes in JSON has no type: any value is valid.
  if (struct.shape !== undefined) return {};
  const fields = [...struct.properties.values()];
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = fields
    .sort(by(({ name }) => name))
    .map((field) => [field.name, writeField(field, definitions, proseOf(struct, field))]);
  const kinds = kindsOf(struct, definitions.groupVersions);
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) as JsonObject } : {}),
    ...(kinds.length > 0 ? { 'x-kubernetes-group-version-kind': kinds } : {}),
    ...(struct.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(struct.unions.length > 0 ? { 'x-kubernetes-unions': struct.unions.map(unionOf) } : {}),
  };
}

function unionOf({ discriminator, fields }: StructType['unions'][number]): JsonObject {
  return {
    ...(discriminator === '' ? {} : { discriminator }),
    'fields-to-discriminateBy': Object.fromEntries(fields),
  };
}

/** Registered in every group-version, not only in their own. */
const registeredEverywhere = new Set(['meta/v1.DeleteOptions', 'meta/v1.WatchEvent']);

function kindsOf({ id, name: kind, isKind }: StructType, groupVersions: readonly GroupVersion[]): JsonObject[] {
  if (registeredEverywhere.has(id)) {
    return [
      { group: '', kind, version: 'v1' },
      ...groupVersions.map(({ group, version }) => ({ group, kind, version })),
    ];
  }
  if (!isKind) return [];
  const home = id.slice(0, id.lastIndexOf('.'));
  const { version } = parseApiVersion(home);
  return [{ group: home === 'meta/v1' ? '' : table.packages[home]!.group, kind, version }];
}

function proseOf({ id, isKind }: StructType, { name }: Field): string | undefined {
  if (id === 'meta/v1.ObjectMeta') return metadataProse[name];
  return isKind && Object.hasOwn(objectProse, name) ? objectProse[name as keyof typeof objectProse] : undefined;
}

function writeField(field: Field, definitions: Definitions, description: string | undefined): JsonObject {
  const extensions = extensionsOf(field);
  const { type } = field;
  const standard = definitions.dialect === 'v3' ? defaultOf(field) : undefined;
  const siblings = {
    ...(description === undefined ? {} : { description }),
    ...(standard === undefined ? {} : { default: standard }),
    ...extensions,
  };
  const target = referenced(type);
  return target ? definitions.propertyTo(target, siblings) : { ...writeValue(type, definitions), ...siblings };
}

function extensionsOf({ listType, mapKeys, mapType, patchStrategies, mergeKey }: Field): JsonObject {
  return {
    ...(mapKeys.length > 0 ? { 'x-kubernetes-list-map-keys': mapKeys } : {}),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
    ...(patchStrategies.length > 0 ? { 'x-kubernetes-patch-strategy': patchStrategies.join(',') } : {}),
  };
}

const zeros: Partial<Record<ValueKind, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  struct: {},
};

function defaultOf({ type, isPointer, omitEmpty, omitZero, default: explicit }: Field): unknown {
  if (explicit !== undefined) return explicit;
  if (isPointer) return undefined;
  if (type.kind !== 'struct' && (omitEmpty || omitZero)) return undefined;
  return zeroOf(type);
}

/** Undefined for types with their own JSON form. */
function zeroOf(type: ValueType): unknown {
  return type.kind === 'struct' && type.struct.shape !== undefined ? undefined : zeros[type.kind];
}

function referenced(type: ValueType): NamedSchema | undefined {
  return type.kind === 'struct' ? structSchema(type.struct) : valueSchemas[type.kind];
}

const scalars: Partial<Record<ValueKind, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Writes the schema of a value that is not a reference. */
function writeValue(type: ValueType, definitions: Definitions): JsonObject {
  const { kind, element, enumValues } = type;
  if (kind === 'list') return { type: 'array', items: writeElement(element!, definitions) };
  if (kind === 'map') return { type: 'object', additionalProperties: writeElement(element!, definitions) };
  return { ...scalars[kind], ...(enumValues ? { enum: enumValues } : {}) };
}

/** Elements are never absent: their default is their zero. */
function writeElement(type: ValueType, definitions: Definitions): JsonObject {
  const zero = definitions.dialect === 'v3' ? zeroOf(type) : undefined;
  const siblings = zero === undefined ? undefined : { default: zero };
  const target = referenced(type);
  if (!target) return { ...writeValue(type, definitions), ...siblings };
  return siblings ? definitions.propertyTo(target, siblings) : definitions.refTo(target);
}
