/** Computes the difference of two versions of an object. An undefined field counts as absent. */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { fieldOf, setField } from '../json/fields.ts';
import { sameJson } from '../json/same-json.ts';

/** A nested patch and its parent, from which it is removed if it is empty. */
interface Part {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly patch: JsonObject;
  readonly within?: { readonly patch: JsonObject; readonly name: string };
}

/**
 * Returns the JSON merge patch (RFC 7386) from `before` to `after`; undefined when they are equal. Lists are replaced as a whole, which is
 * a limit of this patch type. Not recursive, so that any depth works.
 */
export function mergePatchOf(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const parts: Part[] = [{ before, after, patch: {} }];
  for (const part of parts) compare(part, parts);
  // Nested parts come after their parents.
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
