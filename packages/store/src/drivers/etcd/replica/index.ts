/** etcd as a replica of another store with the same revisions: see the README. */

export { openEtcdFence } from '../auth-fence.ts';
export type { EtcdFence, EtcdFenceOptions, FenceUsers } from '../auth-fence.ts';
export type { ConvertValue } from './converted-store.ts';
export { EtcdReplicaError } from './errors.ts';
export type { EtcdReplicaErrorCode } from './errors.ts';
export { openEtcdReplica } from './etcd-replica.ts';
export type { EtcdFramesOptions, EtcdReplica, EtcdReplicaOptions } from './etcd-replica.ts';
