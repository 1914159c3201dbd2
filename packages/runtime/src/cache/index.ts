/**
 * Objects of a cluster in memory, kept up to date by watches.
 *
 *   reflector ──objects, events──► replica (store + handlers) ◄── informer ◄── cache ◄── cached client
 *
 * `ClusterCache` has an informer for each kind of one cluster; `FleetCache` has one informer for a kind of all clusters.
 */

export type * from './contract.ts';
export { CachedClient } from './cached-client.ts';
export type { CachedClientOptions } from './cached-client.ts';
export { cloneJson } from '../json/clone-json.ts';
export { kindOptions } from './cache-options.ts';
export type { CacheOptions, KindOptions } from './cache-options.ts';
export { ClusterCache } from './cluster-cache.ts';
export type { ClusterCacheOptions } from './cluster-cache.ts';
export { FleetCache } from './fleet-cache.ts';
export type { FleetCacheOptions } from './fleet-cache.ts';
export type { FleetView } from './fleet-view.ts';
export { allTransforms, withoutLastApplied, withoutManagedFields } from './transforms.ts';
export type { Transform } from './transforms.ts';
