/**
 * Kinds of CustomResourceDefinitions as OpenAPI schemas. Version 3 publishes the definition's own schema nearly as it is; version 2 drops
 * keywords that clients of Swagger 2.0 do not support. Both refer to the metadata of every object.
 */

import type { GroupVersion } from '../builtin/schemas.ts';
import { structType } from '../builtin/types.ts';
import type { CustomSchema, ServedResource } from '../discovery/model.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import type { Definitions, NamedSchema } from './definitions.ts';
import { objectProse } from './prose.ts';
import { structSchema } from './struct-schema.ts';
import { reduceToV2 } from './swagger-subset.ts';

/** `example.org`, `v1`, `Widget` → `org.example.v1.Widget`. */
const schemaName = ({ group, version }: GroupVersion, kind: string): string =>
  [...group.split('.').reverse(), version, kind].join('.');

const customOf = ({ schema }: ServedResource): CustomSchema => schema as CustomSchema;

/** For a custom resource only. */
export function customSchema(where: GroupVersion, resource: ServedResource): NamedSchema {
  const custom = customOf(resource);
  return {
    name: schemaName(where, resource.kind),
    write: (definitions) => ({ ...writeObject(custom, definitions), ...facts(where, resource.kind, custom) }),
  };
}

/** For a custom resource only. */
export function customListSchema(where: GroupVersion, resource: ServedResource): NamedSchema {
  const custom = customOf(resource);
  return {
    name: schemaName(where, custom.listKind),
    write: (definitions) => ({
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        items: { type: 'array', items: definitions.refTo(customSchema(where, resource)) },
        kind: { type: 'string' },
        metadata: definitions.propertyTo(listMetaSchema()),
      },
      ...facts(where, custom.listKind, custom),
    }),
  };
}

function facts({ group, version }: GroupVersion, kind: string, { selectableFields = [] }: CustomSchema): JsonObject {
  const fields = selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }));
  return {
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...(fields.length > 0 ? { 'x-kubernetes-selectable-fields': fields } : {}),
  };
}

function writeObject({ jsonSchema, preservesUnknownFields }: CustomSchema, definitions: Definitions): JsonObject {
  const isV2 = definitions.dialect === 'v2';
  // kubectl takes any property in version 2 for the whole list of them, and would refuse the unknown fields.
  const isOpen = preservesUnknownFields === true || jsonSchema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (jsonSchema === undefined || (isV2 && isOpen)) return { type: 'object' };
  const written = writeNode(isV2 ? reduceToV2(jsonSchema) : jsonSchema, definitions);
  return { ...written, properties: { ...(written['properties'] as JsonObject), ...objectProperties(definitions) } };
}

const objectProperties = (definitions: Definitions): JsonObject => ({
  apiVersion: { type: 'string', description: objectProse.apiVersion },
  kind: { type: 'string', description: objectProse.kind },
  metadata: definitions.propertyTo(objectMetaSchema(), { description: objectProse.metadata }),
});

/** Only where a value's own schema is: alternatives have neither embedded resources nor int-or-string. */
function writeNode(schema: JsonObject, definitions: Definitions): JsonObject {
  const written = { ...schema };
  const { properties, items, additionalProperties } = schema;
  if (isObject(properties)) {
    const entries = Object.entries(properties).map(([name, inner]) => [name, writeInner(inner, definitions)]);
    written['properties'] = Object.fromEntries(entries) as JsonObject;
  }
  if (items !== undefined) written['items'] = writeInner(items, definitions);
  if (additionalProperties !== undefined) {
    written['additionalProperties'] = writeInner(additionalProperties, definitions);
  }
  if (schema['x-kubernetes-int-or-string'] === true && definitions.dialect === 'v3') sayIntOrString(written);
  if (schema['x-kubernetes-embedded-resource'] === true) sayEmbedded(written, definitions);
  return written;
}

const writeInner = (inner: unknown, definitions: Definitions): unknown =>
  isObject(inner) ? writeNode(inner, definitions) : inner;

const intOrString = [{ type: 'integer' }, { type: 'string' }];

/** Expresses int-or-string in standard OpenAPI. */
function sayIntOrString(schema: JsonObject): void {
  const { anyOf, allOf } = schema;
  const first: unknown = Array.isArray(allOf) ? allOf[0] : undefined;
  if (saysIntOrString(anyOf) || (isObject(first) && saysIntOrString(first['anyOf']))) return;
  if (anyOf === undefined) schema['anyOf'] = intOrString;
  else schema['allOf'] = [{ anyOf: intOrString }, ...(Array.isArray(allOf) ? (allOf as unknown[]) : [])];
}

const saysIntOrString = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((one, index) => isObject(one) && one['type'] === intOrString[index]!.type);

function sayEmbedded(schema: JsonObject, definitions: Definitions): void {
  if (definitions.dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true) return;
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  schema['properties'] = { ...(schema['properties'] as JsonObject | undefined), ...objectProperties(definitions) };
  schema['required'] = [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))];
}

const objectMetaSchema = (): NamedSchema => structSchema(structType('meta/v1.ObjectMeta'));
const listMetaSchema = (): NamedSchema => structSchema(structType('meta/v1.ListMeta'));
