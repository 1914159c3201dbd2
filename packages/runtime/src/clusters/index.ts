/** Many clusters: see `contract.ts`. */

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
export * from './sharding/index.ts';
