/**
 * Discovery by multi-cluster controllers with objects of these definitions and this operator: the providers of packages/runtime have their
 * own definitions of the same kinds.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlPlaneEndpoint, controlPlaneRegistration } from '@hangar/runtime/clusters';
import type { ClusterOptions, DiscoveredCluster, Provider } from '@hangar/runtime/clusters';
import { ControlPlane, ControlPlaneEndpoint, ControlPlaneRegistration } from '../api/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until } from '../testing/until.ts';

const at = (host: string, path: string): string => `https://${host}/clusters/${path}/control-plane`;

/** Discovers until the condition holds. */
async function discovered(provider: Provider, isSo: (all: ReadonlyMap<string, DiscoveredCluster>) => boolean) {
  const ending = new AbortController();
  const all = new Map<string, DiscoveredCluster>();
  const done = Promise.withResolvers<void>();
  const look = (): void => void (isSo(all) && done.resolve());
  const timer = setTimeout(() => done.reject(new Error(`found only ${[...all.keys()].join(', ')}`)), 20_000);
  const running = provider.run(
    {
      discovered: (cluster) => (all.set(cluster.name, cluster), look()),
      lost: (name) => (all.delete(name), look()),
      synced: look,
    },
    ending.signal,
  );
  try {
    await done.promise;
  } finally {
    clearTimeout(timer);
    ending.abort();
    await running;
  }
  return all;
}

test('registrations and endpoints of ready control planes are clusters at their addresses', async () => {
  await using platform = await startTestPlatform({ externalUrl: 'https://hangar.example' });
  const { client } = platform;
  platform.start();
  for (const name of ['a', 'b.c']) {
    const spec = name === 'a' ? {} : { virtual: { clusterPath: 'bc' } };
    await client.create(ControlPlane, { metadata: { name }, spec });
    const registered = { controlPlaneRef: { name }, services: [name === 'a' ? 'Controllers' : 'Scheduler'] };
    await client.create(ControlPlaneRegistration, { metadata: { name: `for-${name}` }, spec: registered });
    await until(client, ControlPlaneRegistration, `for-${name}`, (one) => one?.status?.ready === true);
  }
  const addresses = new Map<string, string>();
  const clusterOptions: ClusterOptions = {
    configure(config, name) {
      addresses.set(name, config.server);
      return config;
    },
  };
  const registrations = controlPlaneRegistration({ management: client, services: ['controllers'], clusterOptions });
  const byRegistration = await discovered(registrations, (all) => all.size === 1);
  assert.deepEqual([...byRegistration.keys()], ['a']);
  const all = await discovered(
    controlPlaneRegistration({ management: client, clusterOptions }),
    ({ size }) => size === 2,
  );
  assert.deepEqual([...all.keys()].sort(), ['a', 'b.c']);
  assert.deepEqual(Object.fromEntries(addresses), {
    a: at('hangar.internal:6443', 'a'),
    'b.c': at('hangar.internal:6443', 'bc'),
  });
  addresses.clear();
  const endpoints = controlPlaneEndpoint({ management: client, address: 'external', clusterOptions });
  const byEndpoint = await discovered(endpoints, ({ size }) => size === 2);
  assert.deepEqual([...byEndpoint.keys()].sort(), ['a', 'b.c'], 'the Secret of a name with dots is found, too');
  assert.deepEqual(Object.fromEntries(addresses), { a: at('hangar.example', 'a'), 'b.c': at('hangar.example', 'bc') });
});

test('a provider loses a registration when the control plane stops being ready, and an endpoint when its provider takes it back', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  platform.start();
  await client.create(ControlPlane, { metadata: { name: 'a' }, spec: {} });
  await client.create(ControlPlaneRegistration, { metadata: { name: 'r' }, spec: { controlPlaneRef: { name: 'a' } } });
  await until(client, ControlPlaneRegistration, 'r', (one) => one?.status?.ready === true);
  let losing: Promise<unknown> | undefined;
  await discovered(controlPlaneRegistration({ management: client }), ({ size }) => {
    if (size === 1) losing ??= client.delete(ControlPlane, { name: 'a' });
    return losing !== undefined && size === 0;
  });
  await losing;
  await until(client, ControlPlaneEndpoint, 'a', (one) => one === undefined || one.status?.endpoint === undefined);
});
