/** Merge types of custom resources, from the structural schema of one version of their definition. */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { objectMetaType } from './builtin-type.ts';
import type { MergeField } from './merge-type.ts';
import { deducedMergeType, ListMerge, MapMerge, MergeType, scalarTypes, untypedAtomic } from './merge-type.ts';

export interface SchemaTypeOptions {
  /** `spec.preserveUnknownFields` of the definition. */
  readonly preserveUnknownFields?: boolean;
}

/** `schema` is a structural `openAPIV3Schema`; keywords that validate values are ignored. Create the type once and keep it. */
export function mergeTypeOfSchema(schema: Readonly<JsonObject>, options: SchemaTypeOptions = {}): MergeType {
  return typeOf(
    { type: 'object', ...schema, 'x-kubernetes-embedded-resource': true },
    options.preserveUnknownFields ?? false,
  );
}

/** Once fields are preserved, they are in everything below. */
function typeOf(schema: Readonly<JsonObject>, isPreservedAbove: boolean): MergeType {
  const isPreserved = isPreservedAbove || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema['type']) {
    case 'object':
      return new MergeType({ map: mapOf(schema, isPreserved) });
    case 'array':
      return new MergeType({ list: listOf(schema, isPreserved) });
    case 'integer':
    case 'number':
      return scalarTypes.numeric;
    case 'string':
      return scalarTypes.string;
    case 'boolean':
      return scalarTypes.boolean;
    default:
      // int-or-string, or unknown fields of any form.
      return new MergeType({ scalar: 'untyped', list: listOf(schema, isPreserved), map: mapOf(schema, isPreserved) });
  }
}

function listOf(schema: Readonly<JsonObject>, isPreserved: boolean): ListMerge {
  const { items } = schema;
  const element = (): MergeType => (isObject(items) ? typeOf(items, isPreserved) : untypedAtomic);
  const keys = schema['x-kubernetes-list-map-keys'];
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return new ListMerge('set', [], element);
    case 'map':
      return new ListMerge('map', Array.isArray(keys) ? (keys as string[]) : [], element);
    default:
      return new ListMerge('atomic', [], element);
  }
}

function mapOf(schema: Readonly<JsonObject>, isPreserved: boolean): MapMerge {
  const properties = isObject(schema['properties']) ? schema['properties'] : undefined;
  const isObjectItself = schema['x-kubernetes-embedded-resource'] === true;
  const hasFields = isObjectItself || (properties !== undefined && Object.keys(properties).length > 0);
  return new MapMerge({
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    element: elementOf(schema['additionalProperties'], isPreserved, hasFields),
    find: hasFields ? (name) => fieldOf(properties, name, isPreserved, isObjectItself) : undefined,
  });
}

function elementOf(additional: unknown, isPreserved: boolean, hasFields: boolean): (() => MergeType) | undefined {
  if (isObject(additional)) return () => typeOf(additional, isPreserved);
  const isOpen = additional === undefined ? isPreserved || !hasFields : additional === true;
  return isOpen ? () => deducedMergeType : undefined;
}

function fieldOf(
  properties: JsonObject | undefined,
  name: string,
  isPreserved: boolean,
  isObjectItself: boolean,
): MergeField | undefined {
  if (isObjectItself) {
    if (name === 'metadata') return { type: objectMetaType(), default: undefined };
    if (name === 'apiVersion' || name === 'kind') return { type: scalarTypes.string, default: undefined };
  }
  const schema = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(schema) ? { type: typeOf(schema, isPreserved), default: schema['default'] } : undefined;
}
