import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { seededRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { Kubeconfigs } from '../contract.ts';
import { kubeconfigsOf } from './kubeconfigs.ts';
import { makeNamespace, putSecret, startManagementWorld } from './testing/management.ts';
import type { ManagementWorld, ManagementWorldOptions } from './testing/management.ts';

const key = { namespace: 'ns', name: 'mine' };
const user = { name: 'controller-manager' };

interface World extends ManagementWorld {
  readonly clock: VirtualClock;
  readonly kubeconfigs: Kubeconfigs;
}

async function start(options: ManagementWorldOptions = {}): Promise<World> {
  const clock = virtualClock();
  const world = await clock.run(startManagementWorld({ ...options, clock }));
  await makeNamespace(world.client, 'ns');
  const { watched: management, log } = world;
  return { ...world, clock, kubeconfigs: kubeconfigsOf({ management, clock, random: seededRandom(1), log }) };
}

/** Records the reported values, until the end. */
function follow({ kubeconfigs }: World): { readonly told: (string | undefined)[]; end(): void } {
  const told: (string | undefined)[] = [];
  return { told, end: kubeconfigs.follow(key, (kubeconfig) => told.push(kubeconfig)) };
}

async function grant(client: Client, verbs: string[], resourceNames: string[]): Promise<void> {
  const metadata = { namespace: 'ns', name: 'named' };
  await client.create(Role, { metadata, rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames, verbs }] });
  await client.create(RoleBinding, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'named' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user.name }],
  });
}

describe('the kubeconfig of a secret', () => {
  test('is told as it is now, then whenever it is another, and only then', async () => {
    await using world = await start();
    const { client, clock } = world;
    const { told, end } = follow(world);
    await clock.until(() => told.length === 1);
    await putSecret(client, key, { kubeconfig: 'one' });
    await clock.until(() => told.length === 2);
    const label = { metadata: { labels: { touched: 'yes' } } };
    await client.patch(Secret, key, { type: 'merge', body: label });
    await putSecret(client, { namespace: 'ns', name: 'other' }, { kubeconfig: 'x' });
    await putSecret(client, key, { kubeconfig: 'two', other: 'x' });
    await clock.until(() => told.length === 3);
    await client.delete(Secret, key);
    await clock.until(() => told.length === 4);
    await putSecret(client, key, { other: 'x' });
    await putSecret(client, key, { kubeconfig: 'three' });
    await clock.until(() => told.length === 5);
    assert.deepEqual(told, [undefined, 'one', 'two', undefined, 'three']);
    end();
    await putSecret(client, key, { kubeconfig: 'four' });
    await clock.until(() => world.faults.openWatches === 0);
    await clock.advance(60_000);
    assert.equal(told.length, 5);
  });

  test('is read as it is at the moment', async () => {
    await using world = await start();
    const { signal } = new AbortController();
    assert.equal(await world.kubeconfigs.read(key, signal), undefined);
    await putSecret(world.client, key, { kubeconfig: 'one' });
    assert.equal(await world.kubeconfigs.read(key, signal), 'one');
    await putSecret(world.client, key, { other: 'x' });
    assert.equal(await world.kubeconfigs.read(key, AbortSignal.timeout(5_000)), undefined);
  });

  test('is followed with no other right than to this one secret', async () => {
    await using world = await start({ authorization: 'rbac', user });
    const { client, clock } = world;
    await grant(client, ['get', 'list', 'watch'], ['mine']);
    await putSecret(client, key, { kubeconfig: 'one' });
    const { told, end } = follow(world);
    await clock.until(() => told.length === 1);
    await putSecret(client, key, { kubeconfig: 'two' });
    await clock.until(() => told.length === 2);
    assert.deepEqual(told, ['one', 'two']);
    assert.equal(await world.kubeconfigs.read(key, AbortSignal.timeout(5_000)), 'two');
    const other = { namespace: 'ns', name: 'other' };
    await assert.rejects(world.kubeconfigs.read(other, AbortSignal.timeout(5_000)), { code: 'Forbidden' });
    end();
  });

  test('that may not be read is none, is said once, and is found when the right comes', async () => {
    await using world = await start({ authorization: 'rbac', user });
    const { client, clock } = world;
    await putSecret(client, key, { kubeconfig: 'one' });
    const { told, end } = follow(world);
    await clock.until(() => told.length === 1);
    world.faults.forget();
    await clock.advance(600_000);
    assert.ok(world.faults.requests.length <= 20, `${world.faults.requests.length} requests in ten minutes`);
    assert.equal(world.lines.filter((line) => line.includes('failed to watch the kubeconfig Secret')).length, 1);
    await grant(client, ['list', 'watch'], ['mine']);
    await clock.until(() => told.length === 2, { withinMs: 130_000, stepMs: 1_000 });
    assert.deepEqual(told, [undefined, 'one']);
    end();
  });

  test('that was read is kept while the management plane is away, and for a while when it refuses', async () => {
    await using world = await start({ authorization: 'rbac', user });
    const { client, clock, faults } = world;
    await grant(client, ['list', 'watch'], ['mine']);
    await putSecret(client, key, { kubeconfig: 'one' });
    const { told, end } = follow(world);
    await clock.until(() => told.length === 1);
    faults.failNext(Infinity);
    faults.cutWatches();
    await clock.advance(300_000);
    assert.deepEqual(told, ['one']);
    faults.heal();
    await putSecret(client, key, { kubeconfig: 'two' });
    await clock.until(() => told.length === 2);
    faults.refuseNext({ status: 403, reason: 'Forbidden' }, 1);
    faults.cutWatches();
    await clock.advance(60_000);
    assert.deepEqual(told, ['one', 'two'], 'refused once');
    await client.delete(RoleBinding, { namespace: 'ns', name: 'named' });
    faults.cutWatches();
    await clock.advance(60_000);
    assert.deepEqual(told, ['one', 'two', undefined]);
    end();
  });

  test('is followed through watches that expire, end, break and fall silent', async () => {
    await using world = await start();
    const { client, clock, faults } = world;
    const { told, end } = follow(world);
    await clock.until(() => faults.openWatches === 1);
    const faultsOf = [
      () => faults.endWatches(),
      () => faults.cutWatches(),
      () => {
        faults.expireWatches(1, 'event');
        faults.endWatches();
      },
      () => faults.silenceWatches(),
    ];
    for (const [at, fault] of faultsOf.entries()) {
      fault();
      await putSecret(client, key, { kubeconfig: `${at}` });
      await clock.until(() => told.at(-1) === `${at}`, { withinMs: 700_000, stepMs: 500 });
      await clock.until(() => faults.openWatches === 1);
    }
    end();
    await clock.until(() => faults.openWatches === 0);
  });
});
