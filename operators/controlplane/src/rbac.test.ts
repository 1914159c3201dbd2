import { startTestCluster } from '@hangar/testkit';
import { operatorUser, rightsSuite } from './testing/rights-suite.ts';

rightsSuite('Hangar', async () => {
  const cluster = await startTestCluster({ authorization: 'rbac' });
  return {
    client: cluster.client,
    transport: cluster.transportOf({ name: operatorUser }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
});
