/**
 * A structural schema as a type: what `self` is in a rule of a CustomResourceDefinition. Every bound of the schema, or
 * what fits into one request where it has none, becomes `maxElements`: the cost estimate depends on it.
 */

import type { ObjectField, Type } from '../types.ts';
import { escapeName } from './escape.ts';

/** The part of a JSON schema that matters here. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

const requestBytesMax = 3 * 1024 * 1024;
/** The longest string that fits into a request, with its quotes. */
const stringMax = requestBytesMax - 2;

/** A type and the fewest bytes a value of it takes in JSON. */
interface Described {
  readonly type: Type;
  readonly minBytes: number;
}

/** The type, or undefined when expressions cannot see such values. `name` names object types in messages. */
export function schemaType(
  schema: StructuralSchema,
  options: { root?: boolean; name?: string } = {},
): Type | undefined {
  return describe(schema, options.root ?? false, options.name ?? 'object')?.type;
}

/** Returns the maximum number of occurrences of this schema in one request, by which rule costs are multiplied. */
export function maxCardinality(schema: StructuralSchema): number {
  return Math.floor(requestBytesMax / ((describe(schema, false, 'object')?.minBytes ?? 0) + 1));
}

const sized = (
  kind: 'string' | 'bytes' | 'dyn' | 'duration' | 'timestamp',
  maxElements: number,
  minBytes: number,
): Described => ({
  type: { kind, maxElements },
  minBytes,
});

function describe(given: StructuralSchema, root: boolean, name: string): Described | undefined {
  if (given['x-kubernetes-int-or-string']) {
    return sized('dyn', given.maxLength === undefined ? stringMax : given.maxLength * 4, 1);
  }
  const schema = root ? withObjectMeta(given) : given;
  switch (schema.type) {
    case 'array':
      return describeArray(schema, name);
    case 'object':
      return describeObject(schema, name);
    case 'string':
      return describeString(schema);
    case 'boolean':
      return { type: { kind: 'bool', maxElements: 0 }, minBytes: 4 };
    case 'number':
      return { type: { kind: 'double', maxElements: 0 }, minBytes: 1 };
    case 'integer':
      return { type: { kind: 'int', maxElements: 0 }, minBytes: 1 };
    default:
      return undefined;
  }
}

function describeString(schema: StructuralSchema): Described {
  const { maxLength } = schema;
  switch (schema.format) {
    case 'byte':
      return sized('bytes', maxLength ?? stringMax, 2);
    case 'duration':
      return sized('duration', 32, 3);
    case 'date':
      return sized('timestamp', 12, 12);
    case 'date-time':
      return sized('timestamp', 32, 21);
  }
  // A character may take four bytes.
  if (maxLength !== undefined) return sized('string', Math.max(0, maxLength) * 4, 2);
  const { enum: values = [] } = schema;
  if (values.length === 0) return sized('string', stringMax, 2);
  const longest = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
  return sized('string', Math.max(...longest), 2);
}

function describeArray(schema: StructuralSchema, name: string): Described | undefined {
  const { items } = schema;
  const element = items && describe(items, items['x-kubernetes-embedded-resource'] ?? false, `${name}.@idx`);
  if (element === undefined) return undefined;
  const maxElements = schema.maxItems ?? Math.floor((requestBytesMax - 2) / (element.minBytes + 1));
  const list: Type = { kind: 'list', element: element.type, maxElements: Math.max(0, maxElements) };
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return { type: list, minBytes: 2 };
  const mapKeys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key);
  return { type: { ...list, listType, ...(listType === 'map' ? { mapKeys } : {}) }, minBytes: 2 };
}

function describeObject(schema: StructuralSchema, name: string): Described | undefined {
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    const embedded = additionalProperties['x-kubernetes-embedded-resource'] ?? false;
    const value = describe(additionalProperties, embedded, `${name}.@elem`);
    if (value === undefined) return undefined;
    // A key, its quotes, a colon, a comma.
    const maxElements = schema.maxProperties ?? Math.floor((requestBytesMax - 2) / (value.minBytes + 6));
    const key: Type = { kind: 'string', maxElements: 0 };
    return { type: { kind: 'map', key, value: value.type, maxElements: Math.max(0, maxElements) }, minBytes: 2 };
  }
  const fields = new Map<string, ObjectField>();
  let minBytes = 2;
  for (const [property, part] of Object.entries(schema.properties ?? {})) {
    const described = describe(part, part['x-kubernetes-embedded-resource'] ?? false, `${name}.${property}`);
    if (described === undefined) continue;
    const celName = escapeName(property);
    if (celName !== undefined)
      fields.set(celName, { type: described.type, ...(celName === property ? {} : { jsonName: property }) });
    if (schema.required?.includes(property) && part.default === undefined) {
      minBytes += Buffer.byteLength(property) + described.minBytes + 4;
    }
  }
  return { type: { kind: 'object', name, fields, maxElements: 0 }, minBytes };
}

/** At the root of a resource these can always be used, whether the schema mentions them or not. */
function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  const { kind, apiVersion, metadata: given } = schema.properties ?? {};
  const named = [kind, apiVersion, given?.properties?.['name'], given?.properties?.['generateName']];
  if (given?.type === 'object' && named.every((part) => part?.type === 'string')) return schema;
  const string: StructuralSchema = { type: 'string' };
  const metadata: StructuralSchema = { type: 'object', properties: { name: string, generateName: string } };
  return { ...schema, properties: { ...schema.properties, kind: string, apiVersion: string, metadata } };
}
