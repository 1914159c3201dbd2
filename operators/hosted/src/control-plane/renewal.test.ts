/** Certificates and kubeconfigs are renewed before they expire. Authorities and pods stay as they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Secret } from '@hangar/client/kinds/core-v1';
import { HostedControlPlane } from '../api/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { ShiftedClock } from '../testing/shifted-clock.ts';
import { untilObject, untilReady } from '../testing/until.ts';

const certificates = [
  'apiserver',
  'apiserver-etcd-client',
  'apiserver-kubelet-client',
  'controller-manager',
  'etcd-peer',
  'etcd-server',
  'front-proxy-client',
  'scheduler',
];

test('the kubeconfig is renewed after weeks and certificates after months, without a roll-out', async () => {
  const clock = new ShiftedClock();
  await using platform = await startTestPlatform({ clock });
  const { client } = platform;
  const first = platform.start();
  await client.create(HostedControlPlane, { metadata: { namespace, name: 'demo' }, spec: { version: 'v1.36.4' } });
  await untilReady(client);
  await first.stop();
  const read = async (): Promise<Map<string, unknown>> => {
    const { items } = await client.list(Secret, { namespace });
    return new Map(items.map(({ metadata, data }) => [metadata.name!.slice('demo-'.length), data]));
  };
  const generations = async (): Promise<unknown[]> => {
    const all = [
      ...(await client.list(Deployment, { namespace })).items,
      ...(await client.list(StatefulSet, { namespace })).items,
    ];
    return all.map(({ metadata }) => [metadata.name, metadata.generation]);
  };
  /** The names of the Secrets that a pass at this time changes. The kubeconfig is the last one. */
  const renewedAfter = async (days: number): Promise<string[]> => {
    const before = await read();
    clock.aheadDays = days;
    const operator = platform.start();
    await untilObject(
      client,
      Secret,
      'demo-kubeconfig',
      ({ data }) => JSON.stringify(data) !== JSON.stringify(before.get('kubeconfig')),
    );
    await operator.stop();
    const after = await read();
    return [...after]
      .filter(([name, data]) => JSON.stringify(data) !== JSON.stringify(before.get(name)))
      .map(([name]) => name)
      .sort();
  };
  const templates = await generations();
  assert.deepEqual(await renewedAfter(25), ['kubeconfig']);
  assert.deepEqual(await renewedAfter(250), [...certificates, 'kubeconfig'].sort());
  assert.deepEqual(await generations(), templates);
});
