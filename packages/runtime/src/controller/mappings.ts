/** Maps objects of events to requests. */

import { groupOf } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import type { Mapping, RequestLike } from './options.ts';

/** Maps an object to itself. */
export const mapToSelf: Mapping = ({ metadata: { namespace, name = '' } }) => [{ namespace, name }];

/**
 * Maps an object to its owners of a kind: to the controller, or with `anyOwner` to all owners. Compares group, kind and name as the
 * garbage collector does, so that references with an older version match. Owners of a namespaced kind are in the same namespace.
 */
export const mapToOwner =
  (owner: Pick<Kind<ApiObject>, 'apiVersion' | 'kind' | 'isNamespaced'>, anyOwner = false): Mapping =>
  ({ metadata: { namespace, ownerReferences = [] } }) => {
    const requests: RequestLike[] = [];
    for (const reference of ownerReferences) {
      if (reference.kind !== owner.kind || groupOf(reference) !== groupOf(owner)) continue;
      if (!anyOwner && reference.controller !== true) continue;
      requests.push({ namespace: owner.isNamespaced ? namespace : undefined, name: reference.name });
    }
    return requests;
  };
