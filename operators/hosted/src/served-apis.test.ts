import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitions } from '@hangar/backup-operator';
import { installCrd, startTestCluster } from '@hangar/testkit';
import { servedApis } from './served-apis.ts';
import { installCertManager } from './testing/cert-manager-double.ts';
import { installClusterApi } from './testing/cluster-api.ts';
import { installGatewayApi } from './testing/gateway-api.ts';

test('Cluster API, the Gateway API, cert-manager and the kinds of backups are found by discovery', async () => {
  await using cluster = await startTestCluster();
  const found = () => servedApis(cluster.client);
  const none = { backups: undefined, certManager: undefined, clusterApi: undefined, tlsRouteVersion: undefined };
  assert.deepEqual(await found(), none);
  await installClusterApi(cluster.client);
  assert.deepEqual(await found(), { ...none, clusterApi: 'v1beta2' });
  await installGatewayApi(cluster.client);
  assert.deepEqual(await found(), { ...none, clusterApi: 'v1beta2', tlsRouteVersion: 'v1' });
  await installCertManager(cluster.client);
  for (const definition of definitions) await installCrd(cluster.client, definition);
  assert.deepEqual(await found(), {
    backups: true,
    certManager: 'on-request',
    clusterApi: 'v1beta2',
    tlsRouteVersion: 'v1',
  });
});
