/**
 * testkit: for tests of operators. `startTestCluster` is a cluster without a socket, `startTestFleet` is many, `virtualClock` is time
 * that stands still until a test moves it, `faultyTransport` is a connection that fails when a test says so.
 */

export { faultyTransport, FaultyTransport, isWatch, isWrite } from './faults/faulty-transport.ts';
export type { FaultyTransportOptions, Hold, Matching } from './faults/faulty-transport.ts';
export type { Refusal } from './faults/answers.ts';
export { installCrd } from './install-crd.ts';
export type { InstallOptions } from './install-crd.ts';
export { rightOf, Rights } from './rights.ts';
export { testAuthority } from './test-authority.ts';
export type { TestAuthority, TestPair } from './test-authority.ts';
export { startTestCluster } from './test-cluster.ts';
export type { TestCluster, TestClusterOptions } from './test-cluster.ts';
export { startTestFleet, Tenant } from './test-fleet.ts';
export type { TestFleet, TestFleetOptions } from './test-fleet.ts';
export { administrator, serviceAccount } from './users.ts';
export type { TestUser } from './users.ts';
export { VirtualClock, virtualClock } from './virtual-clock.ts';
export type { VirtualClockOptions } from './virtual-clock.ts';
