/** etcd as a replica of another store with the same revisions: see the README. */

export { openEtcdFence } from '../auth-fence.ts';
export type { EtcdFence, EtcdFenceOptions, FenceUsers } from '../auth-fence.ts';
