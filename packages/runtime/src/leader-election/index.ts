/** Elects one of several processes as the leader. */

export { newIdentity } from './identity.ts';
export { LeaderElector } from './leader-elector.ts';
export type { LeaderElectionOptions, LeaderElectorOptions } from './leader-elector.ts';
export type { LeaseClient } from './lease-lock.ts';
