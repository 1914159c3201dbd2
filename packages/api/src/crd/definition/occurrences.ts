/**
 * Estimates how often values of a schema can occur in one request if nothing else bounds them: as often as the shortest such value fits.
 * The shortest length of a schema is cached: rules on every level of a deep schema need it.
 */

import { additionalOf, entriesOf, isSet, itemsOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

const requestBytesMax = 3 * 1024 * 1024;
const lengths = new WeakMap<JsonSchema, number>();

export const occurrencesMax = (schema: JsonSchema): number =>
  Math.floor(requestBytesMax / ((shortest(schema) ?? 0) + 1));

/** Bytes of JSON; undefined for values that expressions cannot see. */
function shortest(schema: JsonSchema): number | undefined {
  const known = lengths.get(schema);
  if (known !== undefined) return known === -1 ? undefined : known;
  const found = measure(schema);
  lengths.set(schema, found ?? -1);
  return found;
}

const formatted: Readonly<Record<string, number>> = { duration: 3, date: 12, 'date-time': 21 };

function measure(schema: JsonSchema): number | undefined {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'string':
      return (Object.hasOwn(formatted, schema.format ?? '') ? formatted[schema.format!] : undefined) ?? 2;
    case 'boolean':
      return 4;
    case 'number':
    case 'integer':
      return 1;
    case 'array': {
      const items = itemsOf(schema);
      return items && shortest(items) !== undefined ? 2 : undefined;
    }
    case 'object': {
      const others = additionalOf(schema);
      if (others !== undefined) return shortest(others) === undefined ? undefined : 2;
      return objectLength(schema);
    }
    default:
      return undefined;
  }
}

/** Required fields with their quotes, colon and comma; fields with a default need not be sent. */
function objectLength(schema: JsonSchema): number {
  const required = new Set(schema.required);
  let length = 2;
  for (const [name, part] of entriesOf(schema.properties)) {
    const partLength = required.has(name) && !isSet(part.default) ? shortest(part) : undefined;
    if (partLength !== undefined) length += Buffer.byteLength(name) + partLength + 4;
  }
  return length;
}
