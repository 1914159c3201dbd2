/** Parts that structural schemas do not support. */

import { isSet } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

/** Returns the first part that prevents the schema, or one below it, from being structural. */
export function unsupportedPart(schema: JsonSchema): string | undefined {
  if (!checked.has(schema)) checked.set(schema, findUnsupported(schema));
  return checked.get(schema);
}

/** Cached, because every rule that names a field needs it. */
const checked = new WeakMap<JsonSchema, string | undefined>();

function findUnsupported(schema: JsonSchema): string | undefined {
  const own = unsupportedField(schema);
  if (own !== undefined) return own;
  for (const part of partsOf(schema)) {
    const found = unsupportedPart(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isFilled = (record: object | null | undefined): boolean => isSet(record) && Object.keys(record).length > 0;

/** In the order of Kubernetes: the first is reported. */
const unsupportedFields: readonly (readonly [name: string, isUsed: (schema: JsonSchema) => boolean])[] = [
  ['id', ({ id }) => Boolean(id)],
  ['schema', ({ $schema }) => Boolean($schema)],
  ['$ref', ({ $ref }) => Boolean($ref)],
  ['patternProperties', ({ patternProperties }) => isFilled(patternProperties)],
  ['dependencies', ({ dependencies }) => isFilled(dependencies)],
  ['additionalItems', ({ additionalItems }) => isSet(additionalItems)],
  ['definitions', ({ definitions }) => isFilled(definitions)],
];

function unsupportedField(schema: JsonSchema): string | undefined {
  const field = unsupportedFields.find(([, isUsed]) => isUsed(schema));
  if (field !== undefined) return `OpenAPIV3Schema '${field[0]}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  return Array.isArray(schema.items) ? "OpenAPIV3Schema 'items' must be a schema, but is an array" : undefined;
}

/** Returns the schemas directly below one, including those of alternatives. */
export function partsOf(schema: JsonSchema): readonly JsonSchema[] {
  const { not, allOf, anyOf, oneOf, items, properties, additionalProperties: additional } = schema;
  const parts: JsonSchema[] = [];
  if (isSet(not)) parts.push(not);
  for (const alternatives of [allOf, anyOf, oneOf]) for (const one of alternatives ?? []) parts.push(one);
  if (Array.isArray(items)) for (const one of items as readonly JsonSchema[]) parts.push(one);
  else if (isSet(items)) parts.push(items as JsonSchema);
  if (isSet(properties)) for (const one of Object.values(properties)) parts.push(one);
  if (isSet(additional) && typeof additional === 'object') parts.push(additional);
  return parts;
}

/** Reports whether `isSuch` holds for this schema or one below it. */
export function someSchema(schema: JsonSchema, isSuch: (schema: JsonSchema) => boolean): boolean {
  if (isSuch(schema)) return true;
  for (const part of partsOf(schema)) if (someSchema(part, isSuch)) return true;
  return false;
}
