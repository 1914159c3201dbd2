/** Transforms for informers. Each changes its argument. */

import type { ApiObject } from '@hangar/client';

/** Removes `metadata.managedFields`, which is often most of an object and unused by most controllers. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  // Copies `metadata`: deleting a field makes an object larger and slower (dictionary mode of V8).
  if (object.metadata.managedFields !== undefined) {
    const { managedFields: _, ...metadata } = object.metadata;
    object.metadata = metadata;
  }
  return object;
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes the annotation in which `kubectl apply` stores a copy of the object. */
export function withoutLastApplied<T extends ApiObject>(object: T): T {
  const { annotations } = object.metadata;
  if (annotations?.[lastApplied] !== undefined) {
    const { [lastApplied]: _, ...others } = annotations;
    object.metadata.annotations = others;
  }
  return object;
}

/** Returns the object to cache, or undefined to ignore it. See `InformerOptions.transform`. */
export type Transform<T extends ApiObject> = (object: T) => T | undefined;

/** Applies transforms in order. Stops when one returns undefined. */
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
