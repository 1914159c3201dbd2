/**
 * Many clusters in one process: providers discover clusters, the engine opens them, and a coordinator assigns them to processes. See
 * `contract.ts`.
 *
 *     const manager = await newManager({
 *       clusters: (world) => ({
 *         provider: kubeconfigSecrets({ ...world, management: world.client }),
 *         coordinator: new ShardCoordinator(world),
 *       }),
 *     });
 */

export type * from './contract.ts';
export { ClusterEngine } from './engage/engine.ts';
export type { ClusterEngineOptions } from './engage/engine.ts';
export type { BackOff } from '@hangar/core';
export { Starts } from './engage/starts.ts';
export type { StartsOptions } from './engage/starts.ts';
export { Fence } from './engage/fence.ts';
export { isRead } from './engage/fenced-client.ts';
export { clusterStates } from './engage/status.ts';
export type { ClusterState, ClusterStatus } from './engage/status.ts';
export { Right } from './engage/right.ts';
export type { RightOptions } from './engage/right.ts';
export { soleOwner } from './engage/sole-owner.ts';
export * from './providers/index.ts';
export { pathClient } from './providers/path-client.ts';
export * from './sharding/index.ts';
