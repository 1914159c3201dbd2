/**
 * What the operator keeps of the management plane: the four kinds, and of namespaces, Secrets and ConfigMaps only what is its own, and the Leases of
 * controller managers. All others are not even listed. Nobody reads who wrote which field, nor copies of whole objects in annotations.
 */

import { allTransforms, kindOptions, withoutLastApplied, withoutManagedFields } from '@hangar/runtime';
import type { CacheOptions } from '@hangar/runtime';
import { shardGroupLabel, shardLeaseKind } from '@hangar/runtime/clusters';
import { controlPlaneCaches } from './control-plane/index.ts';

const lean = { transform: allTransforms(withoutManagedFields, withoutLastApplied) };

export const managementCache: CacheOptions = {
  defaults: lean,
  byKind: [...controlPlaneCaches, kindOptions(shardLeaseKind, { labelSelector: shardGroupLabel })].map((kind) =>
    kind.metadataOnly ? kind : { ...lean, ...kind },
  ),
};
