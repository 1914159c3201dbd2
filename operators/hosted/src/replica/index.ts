/** HostedControlPlanes as the dedicated side of migrations: see the README. */

export { ReplicaError } from './contract.ts';
export type {
  HostedReplica,
  HostedReplicaSession,
  HostedReplicaState,
  RemoteApiServer,
  ReplicaKeys,
  SeedOptions,
} from './contract.ts';
export { hostedReplicas } from './replica.ts';
export type { HostedReplicasOptions } from './replica.ts';
