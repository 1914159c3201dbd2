/** What to keep of objects: for `transform` of informers. Each changes what it is given. */

import type { ApiObject } from '@hangar/client';

/** Who set which field: often most of an object's bytes, and of no use to a controller that does not read it. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  // In a new object: one that a field is deleted from becomes larger and slower (V8’s dictionary mode).
  if (object.metadata.managedFields !== undefined) {
    const { managedFields: _, ...metadata } = object.metadata;
    object.metadata = metadata;
  }
  return object;
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A copy of the whole object, which `kubectl apply` writes into an annotation. */
export function withoutLastApplied<T extends ApiObject>(object: T): T {
  const { annotations } = object.metadata;
  if (annotations?.[lastApplied] !== undefined) {
    const { [lastApplied]: _, ...others } = annotations;
    object.metadata.annotations = others;
  }
  return object;
}

export type Transform<T extends ApiObject> = (object: T) => T | undefined;

/** One after the other; the first that keeps nothing ends it. */
export const allTransforms =
  <T extends ApiObject>(...transforms: readonly Transform<T>[]): Transform<T> =>
  (object) => {
    let kept: T | undefined = object;
    for (const transform of transforms) {
      if (kept === undefined) return undefined;
      kept = transform(kept);
    }
    return kept;
  };
