/** RFC 7386, as a client applies it. */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

export function mergeInto(target: JsonObject, change: JsonObject): JsonObject {
  const merged: JsonObject = { ...target };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete merged[key];
    else if (isObject(value)) merged[key] = mergeInto(isObject(merged[key]) ? merged[key] : {}, value);
    else merged[key] = value;
  }
  return merged;
}
