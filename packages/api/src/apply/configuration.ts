/**
 * Merges a configuration into an object without ownership of fields, for mutating admission policies. Because they name only the fields to
 * change, they may not name anything that would be replaced as a whole.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { mergeValues } from './merge.ts';
import type { MergeType } from './merge-type.ts';
import { ElementError } from './path-element.ts';
import { problemsText, validatePatch } from './validate.ts';

/** The merged object, or the problem in kube-apiserver's wording. Neither argument is changed; the result shares parts with both. */
export type MergedConfiguration =
  | { readonly object: JsonObject; readonly problem?: never }
  | { readonly problem: string };

export function mergeConfiguration(type: MergeType, live: JsonObject, patch: JsonObject): MergedConfiguration {
  const problems = validatePatch(type, patch);
  if (problems.length > 0) {
    return { problem: `failed to convert patch object to typed object: ${problemsText(problems)}` };
  }
  const atomics = atomicPaths(type, patch, '');
  if (atomics.length > 0) {
    const list = atomics.join(', ');
    return { problem: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${list}` };
  }
  try {
    return { object: mergeValues(type, live, patch) as JsonObject };
  } catch (error) {
    if (!(error instanceof ElementError)) throw error;
    return { problem: `failed to convert original object to typed object: ${error.message}` };
  }
}

/** Returns the paths that would be replaced as a whole. */
function atomicPaths(type: MergeType, value: unknown, path: string): string[] {
  if (Array.isArray(value) && type.list) {
    const { isAtomic, element } = type.list;
    return [...(isAtomic ? [path] : []), ...value.flatMap((item, at) => atomicPaths(element, item, `${path}[${at}]`))];
  }
  if (!isObject(value) || !type.map) return [];
  const { map } = type;
  const inner = Object.keys(value).flatMap((key) => {
    const field = map.field(key);
    return field ? atomicPaths(field.type, value[key], `${path}.${key}`) : [];
  });
  return map.isAtomic ? [path, ...inner] : inner;
}
