import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import { servedApis } from './served-apis.ts';
import { installCertManager } from './testing/cert-manager-double.ts';
import { installClusterApi } from './testing/cluster-api.ts';
import { installGatewayApi } from './testing/gateway-api.ts';

test('Cluster API, the Gateway API and cert-manager are found by discovery', async () => {
  await using cluster = await startTestCluster();
  const found = () => servedApis(cluster.client);
  const none = { certManager: undefined, clusterApi: undefined, tlsRouteVersion: undefined };
  assert.deepEqual(await found(), none);
  await installClusterApi(cluster.client);
  assert.deepEqual(await found(), { ...none, clusterApi: 'v1beta2' });
  await installGatewayApi(cluster.client);
  assert.deepEqual(await found(), { ...none, clusterApi: 'v1beta2', tlsRouteVersion: 'v1' });
  await installCertManager(cluster.client);
  assert.deepEqual(await found(), { certManager: 'on-request', clusterApi: 'v1beta2', tlsRouteVersion: 'v1' });
});
