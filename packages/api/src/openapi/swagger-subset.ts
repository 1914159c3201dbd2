/**
 * Structural schemas reduced to what Swagger 2.0 and its clients support. kubectl's reader of version 2 requires a type wherever there are
 * properties or items and does not support null. Therefore, where a value may be null or have unknown fields, the schema does not describe
 * its inside.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';

const unknownToV2 = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'default', 'nullable']);

export function reduceToV2(schema: JsonObject): JsonObject {
  const reduced = Object.fromEntries(Object.entries(schema).filter(([key]) => !unknownToV2.has(key)));
  const isNullable = schema['nullable'] === true;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isNullable || isOpen) {
    delete reduced['items'];
    delete reduced['properties'];
  }
  const isArrayOfAnything = reduced['type'] === 'array' && reduced['items'] === undefined;
  const isOpenObject = reduced['type'] === 'object' && isOpen;
  if (isNullable || isArrayOfAnything || isOpenObject) delete reduced['type'];
  reduceRequired(reduced);
  reduceInside(reduced);
  return reduced;
}

/** Fields that may be null are not required: version 2 cannot express null. */
function reduceRequired(schema: JsonObject): void {
  const { required, properties, additionalProperties } = schema;
  if (!Array.isArray(required)) return;
  const isNullable = (name: unknown): boolean => {
    if (!isObject(properties) || typeof name !== 'string' || !Object.hasOwn(properties, name)) return false;
    const property = properties[name];
    return isObject(property) && property['nullable'] === true;
  };
  const rest = required.filter((name) => !isNullable(name)) as unknown[];
  const hasNullableValues = isObject(additionalProperties) && additionalProperties['nullable'] === true;
  if (rest.length === 0 || hasNullableValues) delete schema['required'];
  else schema['required'] = rest;
}

function reduceInside(schema: JsonObject): void {
  const { items, properties, additionalProperties } = schema;
  if (isObject(items)) schema['items'] = reduceToV2(items);
  if (isObject(additionalProperties)) schema['additionalProperties'] = reduceToV2(additionalProperties);
  if (isObject(properties)) {
    const entries = Object.entries(properties).map(([name, one]) => [name, isObject(one) ? reduceToV2(one) : one]);
    schema['properties'] = Object.fromEntries(entries) as JsonObject;
  }
}
