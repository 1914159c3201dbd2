/**
 * The cache of the management plane: the four kinds, of namespaces, Secrets and ConfigMaps only the operator's own, and the Leases of
 * controller managers. Other objects are not listed. managedFields and the last-applied annotation are dropped.
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
