/** An object to apply, with its kind. */

import type { ApiObject, Kind } from '@hangar/client';

export interface Rendered<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly object: T;
}

/** Adds apiVersion and kind. Checks the object against the type of its kind, so that one list can contain objects of all kinds. */
export const rendered = <T extends ApiObject>(kind: Kind<T>, object: Omit<T, 'apiVersion' | 'kind'>): Rendered => ({
  kind: kind as unknown as Kind<ApiObject>,
  object: { apiVersion: kind.apiVersion, kind: kind.kind, ...object } as unknown as ApiObject,
});
