/**
 * @hangar/testkit runs a Kubernetes API server in the process of a test. `startTestCluster` starts one cluster without a socket,
 * `startTestFleet` starts many, `virtualClock` is a clock that only the test advances, and `faultyTransport` injects faults into
 * connections.
 *
 *     await using cluster = await startTestCluster();
 *     await cluster.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'settings' } });
 */

export { Activity } from './activity.ts';
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
