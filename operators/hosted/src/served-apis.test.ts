import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import { servedApis } from './served-apis.ts';
import { installClusterApi } from './testing/cluster-api.ts';

test('Cluster API and the Gateway API are found by discovery', async () => {
  await using cluster = await startTestCluster();
  assert.deepEqual(await servedApis(cluster.client), { clusterApi: undefined, tlsRouteVersion: undefined });
  await installClusterApi(cluster.client);
  assert.deepEqual(await servedApis(cluster.client), { clusterApi: 'v1beta2', tlsRouteVersion: undefined });
});
