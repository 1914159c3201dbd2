/** For tests: documents without the parts that differ deliberately, so that the rest can be compared as a whole. */

import { isObject } from '../../object.ts';

/** Names of properties and schemas are not keywords: nothing is dropped among them. */
const holdersOfNames = new Set(['properties', 'schemas', 'definitions']);

/**
 * Without descriptions; without the group-versions that options and events are registered in, of which the real server also lists those
 * that it does not serve; `allOf` of one reference becomes that reference: the real server writes it so if a property has no description.
 */
export function normalForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => normalForm(one));
  if (!isObject(value)) return value;
  const { allOf } = value;
  if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) && Object.hasOwn(allOf[0], '$ref')) {
    const { allOf: _alone, ...rest } = value;
    return normalForm({ ...rest, ...(allOf[0] as object) });
  }
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === 'description' && typeof inner === 'string') return [];
    if (!holdersOfNames.has(key) || !isObject(inner)) return [[key, normalForm(inner)]];
    return [[key, Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, named(name, one)]))]];
  });
  return Object.fromEntries(entries);
}

function named(name: string, schema: unknown): unknown {
  if (!/\.(DeleteOptions|WatchEvent)$/.test(name) || !isObject(schema)) return normalForm(schema);
  const { 'x-kubernetes-group-version-kind': _registered, ...rest } = schema;
  return normalForm(rest);
}

/** A version 2 document with its shared parameters expanded: their names are chosen by the server. */
export function withoutSharedParameters(document: Record<string, unknown>): unknown {
  const { parameters, ...rest } = document as { parameters: Record<string, unknown> };
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (!isObject(value)) return value;
    const [, name] = /^#\/parameters\/(.*)$/.exec(String(value['$ref'])) ?? [];
    if (name !== undefined) return parameters[name];
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inline(inner)]));
  };
  return inline(rest);
}
