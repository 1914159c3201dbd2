/** A resource that the index follows, in one control plane or in all of them. */

import type { Kind } from '@hangar/client';
import { groupOf } from '@hangar/client';
import type { ResourceName } from '../index-store/contract.ts';

export interface FollowedKind {
  readonly kind: Kind;
  readonly resource: ResourceName;
  /** Only metadata is transferred. */
  readonly isMetadataOnly: boolean;
}

/** Resources whose content is secret. */
const secrets = new Set(['secrets.']);

export function followedKind(kind: Kind): FollowedKind {
  const resource = { group: groupOf(kind), resource: kind.plural };
  return { kind, resource, isMetadataOnly: secrets.has(`${resource.resource}.${resource.group}`) };
}
