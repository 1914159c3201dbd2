/**
 * The operator ends before and after every write of its reconciler: when a control plane is created, upgraded and deleted, and when its
 * authority is rotated. The next operator completes the work, and then writes nothing more.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { CodedError, Failpoints } from '@hangar/core';
import { HostedControlPlane, rotateAnnotation } from '../api/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilObject, untilReady } from '../testing/until.ts';

/** Records the failpoints that an undisturbed run passes. */
class Recorded extends Failpoints {
  readonly names = new Set<string>();

  override hit(name: string): void {
    this.names.add(name);
    super.hit(name);
  }
}

/** Runs `act` with an operator that ends at the failpoint. */
async function endedAt(platform: TestPlatform, failpoint: string, act: () => Promise<unknown>): Promise<void> {
  const failpoints = new Failpoints();
  const ended = Promise.withResolvers<void>();
  failpoints.arm(failpoint, { times: 1, run: ended.resolve, throws: new CodedError('Aborted', 'the process ended') });
  const operator = platform.start(failpoints);
  await act();
  await ended.promise;
  await operator.stop();
}

async function recorded(platform: TestPlatform, act: () => Promise<unknown>): Promise<string[]> {
  const failpoints = new Recorded();
  const operator = platform.start(failpoints);
  await act();
  await operator.stop();
  return [...failpoints.names].sort();
}

const create = ({ client }: TestPlatform, name: string, version = 'v1.36.4') =>
  client.create(HostedControlPlane, { metadata: { namespace, name }, spec: { version, replicas: 1 } });

/** The next operator completes the work. */
async function completes(
  platform: TestPlatform,
  name: string,
  { version, isDeletedThen = false }: { readonly version: string; readonly isDeletedThen?: boolean },
): Promise<void> {
  const { client } = platform;
  const next = platform.start();
  await until(client, name, ({ status }) => status?.version === version);
  const { spec } = await untilReady(client, name);
  assert.equal(spec.version, version);
  for (const suffix of ['ca', 'etcd', 'proxy', 'sa', 'kubeconfig']) {
    await client.get(Secret, { namespace, name: `${name}-${suffix}` });
  }
  if (isDeletedThen) {
    await client.delete(HostedControlPlane, { namespace, name });
    await untilGone(client, name);
  }
  await next.stop();
}

/** Control planes that are complete are not written again. */
async function nothingMore(platform: TestPlatform): Promise<void> {
  const first = platform.start();
  await platform.quiet();
  await first.stop();
  platform.forget();
  const second = platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  await second.stop();
}

test('an operator that ends at any write while it creates a control plane leaves one that another operator completes', async () => {
  await using platform = await startTestPlatform();
  const names = await recorded(platform, async () => {
    await create(platform, 'first');
    await untilReady(platform.client, 'first');
  });
  assert.ok(names.length >= 90, `${names.length} failpoints`);
  for (const [at, failpoint] of names.entries()) {
    const name = `p${at}`;
    await endedAt(platform, failpoint, () => create(platform, name));
    // Some stay until the end; each of them costs every later operator a pass.
    await completes(platform, name, { version: 'v1.36.4', isDeletedThen: at % 10 !== 0 });
  }
  await nothingMore(platform);
});

test('an operator that ends at any write while it upgrades a control plane leaves one that another operator completes', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  const upgrade = (name: string) =>
    client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body: { spec: { version: 'v1.36.4' } } });
  const created = async (name: string): Promise<void> => {
    const operator = platform.start();
    await create(platform, name, 'v1.35.0');
    await untilReady(client, name);
    await operator.stop();
  };
  await created('first');
  const names = await recorded(platform, async () => {
    await upgrade('first');
    await until(client, 'first', ({ status }) => status?.version === 'v1.36.4');
  });
  assert.ok(names.length >= 10, `${names.length} failpoints`);
  for (const [at, failpoint] of names.entries()) {
    const name = `p${at}`;
    await created(name);
    await endedAt(platform, failpoint, () => upgrade(name));
    await completes(platform, name, { version: 'v1.36.4' });
  }
  await nothingMore(platform);
});

test('an operator that ends at any write while it deletes a control plane leaves one that another operator deletes', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  const created = async (name: string): Promise<void> => {
    const operator = platform.start();
    await create(platform, name);
    await untilReady(client, name);
    await operator.stop();
  };
  const remove = (name: string) => client.delete(HostedControlPlane, { namespace, name });
  await created('first');
  const names = await recorded(platform, async () => {
    await remove('first');
    await untilGone(client, 'first');
  });
  for (const write of ['kube-controller-manager', 'kube-scheduler', 'kube-apiserver', 'etcd'].map(
    (one) => `delete-${one}`,
  )) {
    assert.ok(names.includes(`hosted.${write}.before`), names.join());
  }
  for (const [at, failpoint] of names.entries()) {
    const name = `p${at}`;
    await created(name);
    await endedAt(platform, failpoint, () => remove(name));
    const next = platform.start();
    await untilGone(client, name);
    await next.stop();
    const order = workloads.deleted.filter((one) => one.startsWith(`${name}-`));
    assert.deepEqual(order.slice(2), [`${name}-apiserver`, `${name}-etcd`], failpoint);
  }
  await nothingMore(platform);
});

test('an operator that ends at any write while it rotates an authority leaves one that another operator completes', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  const caOf = async (name: string): Promise<string> =>
    (await client.get(Secret, { namespace, name: `${name}-ca` })).data!['tls.crt']!;
  const created = async (name: string): Promise<string> => {
    const operator = platform.start();
    const certificates = { overlapDuration: '0s' };
    await client.create(HostedControlPlane, {
      metadata: { namespace, name },
      spec: { version: 'v1.36.4', replicas: 1, certificates },
    });
    await untilReady(client, name);
    await operator.stop();
    return caOf(name);
  };
  const rotate = (name: string) => {
    const body = { metadata: { annotations: { [rotateAnnotation('ca')]: 'now' } } };
    return client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body });
  };
  const rotated = async (name: string, before: string): Promise<void> => {
    const bundle = `${name}-ca-bundle`;
    const { data } = await untilObject(client, ConfigMap, bundle, ({ data: now }) => {
      const certificates = now!['ca.crt']!.match(/BEGIN/g)!.length;
      return certificates === 1 && Buffer.from(now!['ca.crt']!).toString('base64') !== before;
    });
    assert.equal(await caOf(name), Buffer.from(data!['ca.crt']!).toString('base64'));
    await untilReady(client, name);
  };
  const first = await created('first');
  const names = await recorded(platform, async () => {
    await rotate('first');
    await rotated('first', first);
  });
  // The objects inside the control plane are part of the first loop.
  const own = names.filter((name) => !name.startsWith('hosted.inside-'));
  assert.ok(own.length >= 24, `${own.length} failpoints`);
  for (const [at, failpoint] of own.entries()) {
    const name = `p${at}`;
    const before = await created(name);
    await endedAt(platform, failpoint, () => rotate(name));
    const next = platform.start();
    await rotated(name, before);
    await next.stop();
    if (at % 10 !== 0) await client.delete(HostedControlPlane, { namespace, name });
  }
  await nothingMore(platform);
});
