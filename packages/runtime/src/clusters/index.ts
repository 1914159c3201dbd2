/** Many clusters: see `contract.ts`. */

export type * from './contract.ts';
export { ClusterEngine } from './engage/engine.ts';
export type { ClusterEngineOptions } from './engage/engine.ts';
export type { BackOff } from '@hangar/core';
export { clusterStates } from './engage/status.ts';
export type { ClusterState, ClusterStatus } from './engage/status.ts';
export { soleOwner } from './engage/sole-owner.ts';
export * from './providers/index.ts';
export * from './sharding/index.ts';
