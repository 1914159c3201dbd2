/** Assigns clusters to processes: see README.md. */

export { ShardCoordinator } from './shard-coordinator.ts';
export type { ShardCoordinatorOptions } from './shard-coordinator.ts';
export { shardLabel, StaticShard } from './static-shard.ts';
export type { StaticShardOptions } from './static-shard.ts';
export { ownershipCondition, shardOwned } from './ownership-condition.ts';
export type { OwnershipConditionOptions } from './ownership-condition.ts';
export { defaultTimings as defaultShardTimings } from './timings.ts';
export type { ShardTimings } from './timings.ts';
export { groupLabel as shardGroupLabel, leaseKind as shardLeaseKind } from './leases.ts';
export type { Lease as ShardLease } from './leases.ts';
export { replicaLeaseOf } from './replica-lease.ts';
export type { ReplicaLease } from './replica-lease.ts';
