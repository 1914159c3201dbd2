/** The smaller controllers with requests that fail before or after the server has executed them, and sets that stop at any moment. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError, RestClient } from '@hangar/client';
import type { Client, HttpAnswer, HttpRequest, HttpTransport } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { seededRandom, systemClock, systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { certificateRequest } from '@hangar/pki/testing';
import { startTestFleet } from '@hangar/testkit';
import { rootCluster } from './contract.ts';
import { clientUsages } from './csr/testing/refused-requests.ts';
import { fleetKeys } from './testing/fleet-keys.ts';
import { eventually, runControllers } from './testing/run-controllers.ts';

const namespaces = ['one', 'two', 'three'];
/** One request for a certificate in each control plane waits for its clean-up. */
const waiting = 2;
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';

/** One of three requests fails, some of them after they were executed. */
function unreliable(transport: HttpTransport, random: Random): HttpTransport {
  return {
    async request(request: HttpRequest): Promise<HttpAnswer> {
      const roll = random.fraction();
      if (roll < 1 / 6) throw new ClientError('ConnectionFailed', 'nothing arrived');
      const answer = await transport.request(request);
      if (roll < 1 / 3) throw new ClientError('ConnectionLost', 'nobody knows what became of it');
      return answer;
    },
    close: () => transport.close(),
  };
}

async function begin(client: Client): Promise<void> {
  for (const name of namespaces) await client.create(Namespace, { metadata: { name } });
  await client.create(ServiceAccount, { metadata: { namespace: 'one', name: 'robot' } });
  await client.create(Secret, {
    metadata: { namespace: 'one', name: 'robot', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
  });
  await client.create(Secret, {
    metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' },
  });
  await client.create(CertificateSigningRequest, {
    metadata: { name: 'node' },
    spec: {
      signerName: kubelet,
      request: certificateRequest('system:node:one', ['system:nodes']),
      usages: [...clientUsages],
    },
  });
  await client.create(ClusterRole, {
    metadata: { name: 'mine', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ apiGroups: ['example.com'], resources: ['shops'], verbs: ['get'] }],
  });
}

async function insistOnAll(client: Client): Promise<void> {
  for (const namespace of namespaces) {
    await client.get(ServiceAccount, { namespace, name: 'default' });
    const { data } = await client.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' });
    assert.deepEqual(data, { 'ca.crt': 'the CA' });
  }
  assert.ok((await client.get(Secret, { namespace: 'one', name: 'robot' })).data?.['token']);
  const info = await client.get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  assert.ok(info.data?.['jws-kubeconfig-abcdef']);
  const { status } = await client.get(CertificateSigningRequest, { name: 'node' });
  assert.ok(status?.certificate);
  assert.equal(status.conditions?.length, 1, 'approved once');
  const { rules } = await client.get(ClusterRole, { name: 'admin' });
  assert.ok(rules?.some(({ resources }) => resources?.includes('shops')));
}

test('everything comes to be right, whatever fails and however often the set is stopped, and then nothing is written', async () => {
  const random = seededRandom(11);
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'], hasAccounts: true, servingCa: 'the CA' });
  const keysOf = fleetKeys(fleet).of;
  const clientOf = (cluster: string): Client => {
    const transport = fleet.transportOf(cluster === rootCluster ? undefined : cluster);
    const world = { clock: systemClock, random: systemRandom };
    return new RestClient(unreliable(transport, random), { ...world, retry: { brokenMax: 0, refusedMax: 0 } });
  };
  const clusters = ['red', 'blue'].map((name) => fleet.clientOf(name));
  const beginning = Promise.all(clusters.map(begin));
  for (let round = 0; round < 6; round++) {
    const running = runControllers(fleet, { clientOf, keysOf });
    const stopAfter = random.below(40);
    for (let turn = 0; turn < stopAfter; turn++) await new Promise((resolve) => setImmediate(resolve));
    await running.stop();
  }
  await beginning;
  {
    await using running = runControllers(fleet, { clientOf, keysOf });
    for (const client of clusters) await eventually(() => insistOnAll(client), { withinMs: 20_000 });
    await eventually(() => running.set.length === waiting, { withinMs: 20_000 });
  }
  const revisionsOf = async (): Promise<string[]> => {
    const all = await Promise.all([
      fleet.wildcardClient.list(ConfigMap),
      fleet.wildcardClient.list(Secret),
      fleet.wildcardClient.list(ServiceAccount),
      fleet.wildcardClient.list(CertificateSigningRequest),
      fleet.wildcardClient.list(ClusterRole),
    ]);
    return all.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`));
  };
  const before = await revisionsOf();
  await using again = runControllers(fleet, { keysOf });
  await again.synced;
  await eventually(() => again.set.length === waiting);
  assert.deepEqual(await revisionsOf(), before);
});
