/**
 * JSON merge patch, RFC 7386, as kube-apiserver does it: null removes a key, objects merge, everything else replaces. Inputs are never
 * changed; the result shares unchanged parts with them.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { badRequest } from '../status/status.ts';
import { cannotUnmarshal } from './errors.ts';
import { get, put, remove } from './record.ts';

export interface MergePatchOptions {
  /** `fieldValidation=Ignore`: a list is taken for the new document, which decoding then refuses with its own error. */
  readonly ignoreUnknownFields?: boolean;
}

export function applyMergePatch(target: JsonObject, patch: unknown, options: MergePatchOptions = {}): unknown {
  if (isObject(patch)) return mergeInto(target, patch);
  if (patch !== null && !options.ignoreUnknownFields) {
    throw badRequest(`error decoding patch: ${cannotUnmarshal(patch, 'value of type map[string]interface {}')}`);
  }
  if (!Array.isArray(patch)) throw badRequest('Invalid JSON Patch');
  return withoutNulls(patch);
}

function mergeInto(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...target };
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === null) remove(merged, key);
    else put(merged, key, mergeValue(get(merged, key), change));
  }
  return merged;
}

function mergeValue(current: unknown, change: unknown): unknown {
  if (!isObject(current)) return withoutNulls(change);
  // A value that replaces an object keeps its nulls, unlike one that replaces another value.
  return isObject(change) ? mergeInto(current, change) : change;
}

/** Removes null members of objects at every depth; null elements of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) put(kept, key, withoutNulls(value[key]));
  }
  return kept;
}
