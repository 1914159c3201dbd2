/** What is different between two versions of an object. A field that is undefined is one that is not there. */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { fieldOf, setField } from '../json/fields.ts';
import { sameJson } from '../json/same-json.ts';

/** A patch and where it belongs, which it leaves again when nothing is in it. */
interface Part {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly patch: JsonObject;
  readonly within?: { readonly patch: JsonObject; readonly name: string };
}

/**
 * The JSON merge patch (RFC 7386) that makes `after` of `before`; undefined when they are equal. Lists are replaced as a whole:
 * that is all that this kind of patch can say. However deep they are.
 */
export function mergePatchOf(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const parts: Part[] = [{ before, after, patch: {} }];
  for (const part of parts) compare(part, parts);
  // What is within another comes behind it.
  for (const { patch, within } of parts.toReversed()) {
    if (within && Object.keys(patch).length === 0) delete within.patch[within.name];
  }
  const { patch } = parts[0]!;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function compare({ before, after, patch }: Part, parts: Part[]): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [fieldOf(before, name), fieldOf(after, name)];
    if (old === now) continue;
    if (isObject(old) && isObject(now)) {
      const below: JsonObject = {};
      setField(patch, name, below);
      parts.push({ before: old, after: now, patch: below, within: { patch, name } });
    } else if (!sameJson(old, now)) {
      setField(patch, name, now === undefined ? null : now);
    }
  }
}
