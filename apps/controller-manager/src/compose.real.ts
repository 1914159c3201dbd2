/** Runs all parts together, with a no-op program in place of kube-controller-manager. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { hasCode, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { ControlPlaneRegistration } from '@hangar/runtime/clusters';
import { ask } from './serve/testing/serving.ts';
import { TestGround, until } from './testing/ground.ts';

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

describe('a controller manager', () => {
  test('runs a program for what is registered, tells how it does, and leaves nothing behind', async () => {
    await using ground = await TestGround.start();
    const { client } = ground.cluster;
    await ground.register('east');
    const manager = await ground.manager('one', '--controllers=*', '--root-ca-file=ca.crt', '--tls-min-version=x');
    await manager.running.synced;
    await until('ready', () => manager.isReady('east'));
    const { process } = manager.row('east')!.states.get('controllers')!;
    const [flags] = ground.tiny.starts();
    assert.ok(flags!.includes('--controllers=*') && flags!.includes(`--root-ca-file=${ground.folder}/ca.crt`));
    assert.ok(flags!.includes(`--secure-port=${process!.port}`) && flags!.includes('--leader-elect=false'));
    assert.ok(!flags!.some((flag) => flag.startsWith('--tls-')), 'not passed on');
    const condition = async () => {
      const { status } = await client.get(ControlPlaneRegistration, { name: 'east' });
      return findCondition(status?.conditions ?? [], 'ControllersReady')?.status;
    };
    await until('told', async () => (await condition()) === 'True');
    const log = manager.log.join('');
    assert.match(log, /using engine kube: kube-controller-manager is set by/);
    assert.match(log, /ignoring flags of kube-controller-manager that have no effect flags=\["--tls-min-version"\]/);

    await client.delete(ControlPlaneRegistration, { name: 'east' });
    await until('gone', () => manager.row('east') === undefined);
    assert.equal(isAlive(process!.pid), false);
    assert.deepEqual(readdirSync(join(ground.folder, 'one', 'children')), []);

    await ground.register('west');
    await until('ready', () => manager.isReady('west'));
    const next = manager.row('west')!.states.get('controllers')!.process!;
    await manager.stop();
    assert.equal(isAlive(next.pid), false);
    assert.deepEqual(readdirSync(join(ground.folder, 'one', 'children')), []);
    assert.ok(
      findCondition(
        (await client.get(ControlPlaneRegistration, { name: 'west' })).status!.conditions!,
        'ControllersReady',
      ),
    );
  });

  test('shares clusters with another, which has them at once when it leaves', async () => {
    await using ground = await TestGround.start();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await ground.register(name);
    const one = await ground.manager('one');
    const two = await ground.manager('two');
    const owned = (manager: typeof one): string[] => names.filter((name) => manager.row(name)?.isOwned);
    await until('shared', () => owned(one).length > 0 && owned(two).length > 0);
    await until('all are served', () => names.every((name) => one.isReady(name) !== two.isReady(name)));
    assert.deepEqual([...owned(one), ...owned(two)].toSorted(), names);
    await one.stop();
    const leftAt = performance.now();
    await until('taken over', () => names.every((name) => two.isReady(name)));
    // A lease lasts 7 s: no replica waited for its expiry.
    assert.ok(performance.now() - leftAt < 6_000);
    const leases = await ground.cluster.client.list(Lease, { namespace: 'kube-system' });
    assert.ok(leases.items.some(({ metadata }) => metadata?.name?.includes('controller-manager.peer.two')));
  });

  test('that is alone takes no part in leases, and serves only its shard', async () => {
    await using ground = await TestGround.start();
    await ground.register('mine', { labels: { 'hangar.dev/shard': 'x' } });
    await ground.register('another', { labels: { 'hangar.dev/shard': 'y' } });
    const manager = await ground.manager('one', '--leader-elect=false', '--cluster-shard-id=x');
    await manager.running.synced;
    assert.deepEqual(
      Array.from(manager.running.rows(), ({ cluster }) => cluster.name),
      ['mine'],
    );
    await until('ready', () => manager.isReady('mine'));
    await manager.stop();
    assert.deepEqual((await ground.cluster.client.list(Lease, { namespace: 'kube-system' })).items, []);
  });

  test('without a kube-scheduler tells those who ask for one', async () => {
    await using ground = await TestGround.start();
    await ground.register('east', { services: ['scheduler'] });
    const manager = await ground.manager('one', '--leader-elect=false');
    await until('told', () => manager.row('east')?.states.get('scheduler')?.phase === 'Failed');
    assert.match(manager.row('east')!.states.get('scheduler')!.message, /--kube-scheduler=/);
  });
});

test('the essential engine is given the controllers, has no programs in its work directory, and says what it lacks', async () => {
  await using ground = await TestGround.start();
  await ground.register('east', { services: ['controllers', 'scheduler'] });
  const manager = await ground.manager('one', '--leader-elect=false', '--engine=essential', '--controllers=*');
  const stateOf = (service: 'controllers' | 'scheduler') => manager.row('east')?.states.get(service);
  await until('told', () => stateOf('controllers') !== undefined && stateOf('scheduler')?.phase === 'Failed');
  const { engines } = manager.row('east')!;
  assert.deepEqual(
    [...engines],
    [
      ['controllers', 'essential'],
      ['scheduler', 'kube'],
    ],
  );
  // This management plane is not a Hangar: the feed is missing, which is not fatal.
  await until('it says why', () => stateOf('controllers')!.reason === 'FeedUnavailable');
  assert.equal(manager.isReady('east'), false);
  assert.deepEqual(readdirSync(join(ground.folder, 'one', 'children')), []);
  const second = ground.manager('two', '--engine=essential', `--work-dir=${join(ground.folder, 'one')}`);
  await assert.rejects(second, (error) => hasCode(error, 'WorkDirInUse'));
  assert.match(manager.log.join(''), /have no effect flags=\["--controllers"\]/);
});

test('without the right to leases it is not ready, and says after a while which right it lacks', async () => {
  await using ground = await TestGround.start();
  await ground.register('east');
  // Shortens the half minute.
  const after: Clock['after'] = (delayMs, callback) => systemClock.after(delayMs === 30_000 ? 500 : delayMs, callback);
  ground.clock = { ...systemClock, after };
  const manager = await ground.manager('one', '--leader-elect-resource-namespace=no-such-namespace');
  await manager.running.synced;
  await until('warned', () =>
    manager.log.some((line) => /check its permissions on leases.*no-such-namespace/.test(line)),
  );
  const readyz = await ask(Number(new URL(manager.running.url).port), '/readyz');
  assert.equal(readyz.status, 500);
  assert.match(readyz.text, /^\[-\]leases failed/m);
});

describe('it does not begin', () => {
  test('in a work directory that another one has', async () => {
    await using ground = await TestGround.start();
    await ground.manager('one', '--leader-elect=false');
    const second = ground.manager('two', '--leader-elect=false', `--work-dir=${join(ground.folder, 'one')}`);
    await assert.rejects(second, (error) => hasCode(error, 'WorkDirInUse'));
  });

  test('where its port is taken', async () => {
    await using ground = await TestGround.start();
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    try {
      await assert.rejects(ground.manager('one', `--secure-port=${port}`), (error) => hasCode(error, 'EADDRINUSE'));
    } finally {
      occupant.close();
    }
  });

  test('with a kubeconfig that is none', async () => {
    await using ground = await TestGround.start();
    const missing = ground.manager('one', `--kubeconfig=${ground.folder}/none`);
    await assert.rejects(missing, /^Error: --kubeconfig: .*none/);
  });
});
