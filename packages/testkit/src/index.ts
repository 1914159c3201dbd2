/**
 * testkit: for tests of operators. `startTestCluster` is a cluster without a socket, `virtualClock` is time that stands still
 * until a test moves it.
 */

export { startTestCluster } from './test-cluster.ts';
export type { TestCluster, TestClusterOptions, TestUser } from './test-cluster.ts';
