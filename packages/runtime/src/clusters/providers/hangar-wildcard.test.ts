import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { faultyTransport, startTestFleet, Tenant } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { aborted } from '@hangar/core';
import { ClusterEngine } from '../engage/engine.ts';
import { hangarWildcard } from './hangar-wildcard.ts';
import type { HangarWildcardOptions } from './hangar-wildcard.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { configMapKind } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

async function open(options: Partial<HangarWildcardOptions> = {}): Promise<ProviderWorld & { fleet: TestFleet }> {
  const fleet = await startTestFleet({ clusters: 0 });
  const faults = faultyTransport(fleet.transportOf());
  const merge = async (name: string, body: object): Promise<void> =>
    void (await fleet.client.patch(Tenant, { name }, { type: 'merge', body }));
  const suspend = (suspension: string) => ({
    hide: (name: string) => merge(name, { spec: { suspension } }),
    show: (name: string) => merge(name, { spec: { suspension: null } }),
  });
  return {
    fleet,
    provider: hangarWildcard({
      management: new RestClient(faults),
      labelSelector: 'fleet=a',
      clock: fastClock(),
      ...options,
    }),
    faults,
    add: async (name) => void (await fleet.createCluster(name, { fleet: 'a' })),
    touch: (name) => merge(name, { metadata: { annotations: { touched: String(Math.random()) } } }),
    hidings: {
      'the label': {
        hide: (name) => merge(name, { metadata: { labels: { fleet: null } } }),
        show: (name) => merge(name, { metadata: { labels: { fleet: 'a' } } }),
      },
      'being offline': suspend('Offline'),
      'being read-only': suspend('ReadOnly'),
    },
    remove: (name) => fleet.deleteCluster(name),
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
}

providerConformance('hangar-wildcard', open);

test('tenants share one watch, see their own objects, and are written to by their own path', async () => {
  await using world = await open();
  const { fleet, faults } = world;
  const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
  for (const name of names) {
    await world.add(name);
    const metadata = { namespace: 'default', name: `of-${name}`, labels: { mine: 'yes' } };
    await fleet.clientOf(name).create(configMapKind, { metadata });
  }
  const engine = new ClusterEngine({ provider: world.provider });
  const engaged = new Map<string, AbortSignal>();
  const all = Promise.withResolvers<void>();
  engine.addAware({
    engage(name, cluster, signal) {
      engaged.set(name, signal);
      cluster.cache.informer(configMapKind);
      if (engaged.size === names.length) all.resolve();
      return { drained: () => Promise.resolve() };
    },
  });
  const end = new AbortController();
  const running = engine.run(end.signal);
  await all.promise;
  for (const name of names) {
    const { client } = engine.get(name);
    const { items } = await client.list(configMapKind, { labelSelector: 'mine=yes' });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [`of-${name}`],
    );
    assert.equal((items[0]!.metadata as { clusterName?: string }).clusterName, undefined);
    await client.update(configMapKind, { ...items[0]!, data: { by: name } });
    const written = await fleet.clientOf(name).get(configMapKind, { namespace: 'default', name: `of-${name}` });
    assert.deepEqual(written['data'], { by: name });
  }
  assert.equal(faults.openWatches, 2, 'tenants and config maps');
  assert.throws(() => engine.get('nobodys'), { code: 'ClusterNotFound' });
  const { client } = engine.get('t0');
  await world.remove('t0');
  await aborted(engaged.get('t0')!);
  await assert.rejects(
    client.list(configMapKind).then(() => engine.get('t0')),
    { code: 'ClusterNotFound' },
  );
  assert.equal(engaged.get('t1')!.aborted, false);
  end.abort();
  await running;
  assert.equal(faults.openWatches, 0);
});

test('a tenant that comes under the name of one that is gone sees nothing of that one, however late the stream of objects is', async () => {
  await using world = await open();
  const { fleet, faults } = world;
  await world.add('a');
  await fleet.clientOf('a').create(configMapKind, { metadata: { namespace: 'default', name: 'of-the-first' } });
  const engine = new ClusterEngine({ provider: world.provider });
  const told: string[][] = [];
  const signals: AbortSignal[] = [];
  const engaged = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  engine.addAware({
    engage(_name, cluster, signal) {
      const names: string[] = [];
      told.push(names);
      const registration = cluster.cache
        .informer(configMapKind)
        .addHandler({ onAdd: ({ metadata }) => void names.push(metadata.name!) });
      signals.push(signal);
      void registration.synced().then(() => engaged[told.length - 1]!.resolve());
      return { drained: () => Promise.resolve() };
    },
  });
  const end = new AbortController();
  const running = engine.run(end.signal);
  await engaged[0]!.promise;
  assert.ok(told[0]!.includes('of-the-first'));
  const hold = faults.hang(({ target }) => target.includes('/configmaps'));
  faults.cutWatches();
  await world.remove('a');
  await world.add('a');
  await fleet.clientOf('a').create(configMapKind, { metadata: { namespace: 'default', name: 'of-the-second' } });
  await aborted(signals[0]!);
  // Enough time for an engagement that does not wait.
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(told.length, 1);
  hold.release();
  await engaged[1]!.promise;
  assert.ok(told[1]!.includes('of-the-second'));
  assert.ok(!told[1]!.includes('of-the-first'));
  end.abort();
  await running;
});

test('a tenant that another API server serves is read by its own path, and nothing of it is deleted', async () => {
  await using world = await open();
  const { fleet, faults } = world;
  await world.add('a');
  await fleet.clientOf('a').create(configMapKind, { metadata: { namespace: 'default', name: 'kept' } });
  const engine = new ClusterEngine({ provider: world.provider });
  const told: string[] = [];
  const engaged = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<AbortSignal>()];
  let engagements = 0;
  engine.addAware({
    engage(_name, cluster, signal) {
      const at = engagements++;
      const registration = cluster.cache.informer(configMapKind).addHandler({
        onDelete: ({ metadata }) => void told.push(`-${metadata.name}`),
        onAdd: ({ metadata }) => void told.push(`${at}+${metadata.name}`),
      });
      if (at === 0) void registration.synced().then(() => engaged[0]!.resolve(signal));
      else engaged[at]!.resolve(signal);
      return { drained: () => Promise.resolve() };
    },
  });
  const end = new AbortController();
  const running = engine.run(end.signal);
  const first = await engaged[0]!.promise;
  assert.ok(told.includes('0+kept'));
  const own = faults.hang(({ target }) => target.includes('/clusters/a/control-plane/api/v1/configmaps'));
  const target = '/apis/tenancy.hangar.dev/v1alpha1/tenants/a';
  const headers = { 'content-type': 'application/json' };
  const spec = { server: 'https://127.0.0.1:1', ca: '-----BEGIN CERTIFICATE-----' };
  const body = Buffer.from(JSON.stringify({ spec }));
  await fleet.client.raw({ method: 'POST', target: `${target}/hold?id=m`, headers });
  assert.ok(!first.aborted, 'a hold changes nothing');
  await fleet.client.raw({ method: 'POST', target: `${target}/remote?id=m`, headers, body });
  await aborted(first);
  await engaged[1]!.promise;
  while (own.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    told.filter((one) => one.startsWith('-')),
    [],
  );
  end.abort();
  await running;
});

test('tenants that can only be read are clusters if they are wanted', async () => {
  await using world = await open({ includeReadOnly: true });
  for (const name of ['one', 'two']) await world.add(name);
  await using recorder = new Recorder(world.provider);
  await recorder.untilNames('one', 'two');
  await world.hidings['being read-only']!.hide('one');
  await world.hidings['being offline']!.hide('two');
  await recorder.untilNames('one');
});
