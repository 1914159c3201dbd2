/**
 * The operator ends before and after every write of its reconciler: when a dedicated control plane is created, changed and deleted. The
 * next operator completes the work, and then writes nothing more.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { CodedError, Failpoints } from '@hangar/core';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady } from '../testing/until.ts';
import { HostedControlPlane } from './hosted-control-plane.ts';
import { startDedicatedPlatform } from './testing/dedicated-platform.ts';
import type { DedicatedTestPlatform } from './testing/dedicated-platform.ts';

/** Records the failpoints that an undisturbed run passes. */
class Recorded extends Failpoints {
  readonly names = new Set<string>();

  override hit(name: string): void {
    this.names.add(name);
    super.hit(name);
  }
}

async function endedAt(platform: TestPlatform, failpoint: string, act: () => Promise<unknown>): Promise<void> {
  const failpoints = new Failpoints();
  const killed = Promise.withResolvers<void>();
  failpoints.arm(failpoint, { times: 1, run: killed.resolve, throws: new CodedError('Aborted', 'the process ended') });
  const operator = platform.start(failpoints);
  await act();
  await killed.promise;
  await operator.stop();
}

async function recorded(platform: TestPlatform, act: () => Promise<unknown>): Promise<string[]> {
  const failpoints = new Recorded();
  const operator = platform.start(failpoints);
  await act();
  await platform.quiet();
  await operator.stop();
  return [...failpoints.names].sort();
}

async function prepared(): Promise<DedicatedTestPlatform> {
  const the = await startDedicatedPlatform();
  await the.client.create(ControlPlaneClass, {
    metadata: { name: 'gold' },
    spec: { addons: ['starter'], deletionPolicy: 'Destroy', dedicated: { version: 'v1.35.0', replicas: 1 } },
  });
  return the;
}

const create = ({ client }: DedicatedTestPlatform, name: string): Promise<unknown> =>
  client.create(ControlPlane, { metadata: { name }, spec: { mode: 'Dedicated', classRef: { name: 'gold' } } });

async function makeSureOf({ client, hosted }: DedicatedTestPlatform, name: string): Promise<void> {
  const { status } = await untilReady(client, name);
  await client.get(Secret, status!.kubeconfigSecretRef!);
  const inside = await hosted.inside(name);
  await inside.get(ConfigMap, { namespace: 'kplane-system', name: 'welcome' });
  const { items } = await inside.list(Secret, {
    namespace: 'kube-system',
    fieldSelector: 'type=bootstrap.kubernetes.io/token',
  });
  const join = await client.get(Secret, { namespace: `kplane-cp-${name}`, name: `controlplane-${name}-join` });
  const token = Buffer.from(join.data!['token']!, 'base64').toString();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    [`bootstrap-token-${token.split('.')[0]}`],
  );
}

/** An object in the desired state is not written again. */
async function nothingMore({ platform }: DedicatedTestPlatform): Promise<void> {
  const first = platform.start();
  await platform.quiet();
  await first.stop();
  platform.forget();
  const second = platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  await second.stop();
}

test('an operator that ends at any write while it creates a dedicated control plane leaves one that another operator completes', async () => {
  await using the = await prepared();
  const { platform, client } = the;
  const names = await recorded(platform, async () => {
    await create(the, 'first');
    await untilReady(client, 'first');
  });
  for (const write of ['mode', 'hosted-control-plane', 'certificate']) {
    assert.ok(names.includes(`controlplane.${write}.before`), names.join());
  }
  assert.ok(names.length >= 26, `${names.length} failpoints`);
  for (const [at, failpoint] of names.entries()) {
    const name = `cp-${at}`;
    await endedAt(platform, failpoint, () => create(the, name));
    const operator = platform.start();
    await makeSureOf(the, name);
    await operator.stop();
  }
  await nothingMore(the);
});

test('an operator that ends at any write while a dedicated control plane changes leaves one that another operator completes', async () => {
  await using the = await prepared();
  const { platform, client } = the;
  const operator = platform.start();
  await create(the, 'big');
  await untilReady(client, 'big');
  await operator.stop();
  let replicas = 1;
  const change = async (): Promise<void> => {
    const body = { spec: { dedicated: { replicas: ++replicas } } };
    await client.patch(ControlPlane, { name: 'big' }, { type: 'merge', body });
  };
  const names = await recorded(platform, async () => {
    await change();
    await untilReady(client, 'big');
  });
  assert.ok(names.includes('controlplane.hosted-control-plane.after'), names.join());
  for (const failpoint of names) {
    await endedAt(platform, failpoint, change);
    const next = platform.start();
    await until(client, HostedControlPlane, 'big', (one) => one?.spec?.replicas === replicas, 'kplane-cp-big');
    await makeSureOf(the, 'big');
    await next.stop();
  }
  await nothingMore(the);
});

test('an operator that ends at any write while a dedicated control plane is deleted leaves nothing behind', async () => {
  await using the = await prepared();
  const { platform, client } = the;
  const made = async (name: string): Promise<void> => {
    const operator = platform.start();
    await create(the, name);
    await untilReady(client, name);
    await operator.stop();
  };
  await made('first');
  const names = await recorded(platform, async () => {
    await client.delete(ControlPlane, { name: 'first' });
    await untilGone(client, ControlPlane, 'first');
  });
  assert.ok(names.includes('controlplane.hosted-control-plane-delete.after'), names.join());
  for (const [at, failpoint] of names.entries()) {
    const name = `cp-${at}`;
    await made(name);
    await endedAt(platform, failpoint, () => client.delete(ControlPlane, { name }));
    const operator = platform.start();
    await untilGone(client, ControlPlane, name);
    await untilGone(client, Namespace, `kplane-cp-${name}`);
    await operator.stop();
  }
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
});

test('an operator that ends at any write while data is retained and adopted loses none of it', async () => {
  await using the = await prepared();
  const { platform, client } = the;
  const operator = platform.start();
  await create(the, 'big');
  await untilReady(client, 'big');
  await operator.stop();
  const key = { namespace: 'kplane-cp-big', name: 'big' };
  const { metadata } = await client.get(HostedControlPlane, key);
  const retain = async (): Promise<void> => {
    await client.patch(ControlPlane, { name: 'big' }, { type: 'merge', body: { spec: { deletionPolicy: 'Retain' } } });
    await client.delete(ControlPlane, { name: 'big' });
  };
  const names = {
    retain: await recorded(platform, async () => {
      await retain();
      await untilGone(client, ControlPlane, 'big');
    }),
    adopt: await recorded(platform, async () => {
      await create(the, 'big');
      await untilReady(client, 'big');
    }),
  };
  assert.ok(names.retain.includes('controlplane.retain-hostedcontrolplanes.after'), names.retain.join());
  assert.ok(names.adopt.includes('controlplane.adopt-hostedcontrolplanes.after'), names.adopt.join());
  const rounds = Math.max(names.retain.length, names.adopt.length);
  for (let at = 0; at < rounds; at++) {
    await endedAt(platform, names.retain[at % names.retain.length]!, retain);
    const first = platform.start();
    await untilGone(client, ControlPlane, 'big');
    await first.stop();
    assert.equal((await client.get(HostedControlPlane, key)).metadata.uid, metadata.uid);
    await endedAt(platform, names.adopt[at % names.adopt.length]!, () => create(the, 'big'));
    const second = platform.start();
    await untilReady(client, 'big');
    await second.stop();
    assert.equal((await client.get(HostedControlPlane, key)).metadata.uid, metadata.uid);
  }
  await nothingMore(the);
});
