/** Finalizers and create-or-update against the server of Hangar in process. */

import { startTestCluster } from '@hangar/testkit';
import { writesSuite } from './testing/writes-suite.ts';

writesSuite('Hangar', async () => {
  const cluster = await startTestCluster();
  return { client: cluster.client, stop: async () => cluster[Symbol.asyncDispose]() };
});
