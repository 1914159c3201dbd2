/** From the objects of events to requests. */

import { groupOf } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import type { Mapping, RequestLike } from './options.ts';

/** The object itself. */
export const mapToSelf: Mapping = ({ metadata: { namespace, name = '' } }) => [{ namespace, name }];

/**
 * Its owners of a kind: the one that controls it, or any. By group, kind and name, as the garbage collector finds them: the version
 * may be an older one. An owner of a namespaced kind is in the same namespace.
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
