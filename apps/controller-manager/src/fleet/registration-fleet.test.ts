import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chance, pick, seededRandom } from '@hangar/core';
import { fastClock } from '@hangar/core/testing';
import { ControlPlaneRegistration } from '@hangar/runtime/clusters';
import type { Fleet } from '../contract.ts';
import { ofService } from './compose.ts';
import { registrationFleet } from './registration-fleet.ts';
import { Heard } from './testing/heard.ts';
import { changeSpec, register, resolve, startManagementWorld } from './testing/management.ts';
import type { ManagementWorld } from './testing/management.ts';

const random = seededRandom(1);
const fleetOf = ({ watched, log }: ManagementWorld, rest: object = {}): Fleet =>
  registrationFleet({ management: watched, clock: fastClock(), random, log, ...rest });

const secretOf = (name: string) => ({ namespace: `kplane-cp-${name}`, name: `controlplane-${name}-kubeconfig` });
const servicesOf = ({ services }: { services: ReadonlySet<string> }): string[] => [...services];

describe('the fleet of registrations', () => {
  test('tells what is there, then that this was all, then what comes', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a', { services: ['Controllers', 'workloads'], labels: { tier: 'gold' } });
    await resolve(world.client, 'a', secretOf('a'));
    await register(world.client, 'other', { services: ['workloads'] });
    await register(world.client, 'b', { services: ['SCHEDULER', 'controllers'], mode: 'Dedicated' });
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    assert.deepEqual(heard.events.toSorted(), ['+a', '+b', 'synced']);
    assert.equal(heard.events.at(-1), 'synced');
    const { metadata } = await world.client.get(ControlPlaneRegistration, { name: 'a' });
    assert.deepEqual(heard.clusters.get('a'), {
      name: 'a',
      source: { kind: 'ControlPlaneRegistration', name: 'a', uid: metadata.uid },
      services: new Set(['controllers']),
      labels: { tier: 'gold' },
      address: 'https://a',
      secret: secretOf('a'),
    });
    assert.deepEqual(servicesOf(heard.clusters.get('b')!), ['controllers', 'scheduler']);
    assert.equal(heard.clusters.get('b')!.secret, undefined, 'before it was ever resolved');
    await register(world.client, 'c');
    await heard.cluster('c');
    await resolve(world.client, 'b', secretOf('b'), 'https://b:6443');
    const { address, secret } = await heard.cluster('b', (one) => one.secret !== undefined);
    assert.deepEqual([address, secret], ['https://b:6443', secretOf('b')]);
  });

  test('only those that are selected; one that no longer is, is gone', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a', { labels: { tier: 'gold' } });
    await register(world.client, 'b');
    await using heard = new Heard(fleetOf(world, { selector: 'tier=gold' }));
    await heard.until(() => heard.isSynced);
    assert.deepEqual([...heard.clusters.keys()], ['a']);
    const body = { metadata: { labels: { tier: 'lead' } } };
    await world.client.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
    await heard.until(() => heard.clusters.size === 0);
  });

  test('one that is not ready for a while stays reachable as it was; another address comes with its secret', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a');
    await resolve(world.client, 'a', secretOf('a'));
    await using heard = new Heard(fleetOf(world));
    await heard.cluster('a', ({ secret }) => secret !== undefined);
    await resolve(world.client, 'a', undefined);
    await changeSpec(world.client, 'a', { services: ['controllers', 'scheduler'] });
    const after = await heard.cluster('a', ({ services }) => services.has('scheduler'));
    assert.deepEqual([after.address, after.secret], ['https://a', secretOf('a')]);
    await resolve(world.client, 'a', secretOf('z'), 'https://z');
    const { address, secret } = await heard.cluster('a', (one) => one.secret!.name !== after.secret!.name);
    assert.deepEqual([address, secret], ['https://z', secretOf('z')]);
  });

  test('one whose control plane runs the services itself is gone, and returns with the address', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a');
    await resolve(world.client, 'a', secretOf('a'));
    await using heard = new Heard(fleetOf(world));
    await heard.cluster('a', ({ secret }) => secret !== undefined);
    const report = (reason: string) => {
      const condition = { type: 'Ready', status: 'False', reason, message: '' };
      const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const status = { ready: false, resolvedEndpoint: null, resolvedKubeconfigSecretRef: null, conditions };
      return world.client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body: { status } });
    };
    await report('ServiceIncluded');
    await heard.until(() => !heard.clusters.has('a'));
    await report('Resolved');
    await resolve(world.client, 'a', secretOf('a'));
    await heard.cluster('a', ({ secret }) => secret !== undefined);
  });

  test('what changes of it and is of no interest is not told', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a');
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    const status = { ready: false, conditions };
    await world.client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body: { status } });
    await changeSpec(world.client, 'a', { services: ['controllers', 'workloads'] });
    await register(world.client, 'z');
    await heard.cluster('z');
    assert.deepEqual(heard.events, ['+a', 'synced', '+z']);
  });

  test('no service of ours any more, or deleted: gone, at once also while a finalizer keeps it', async () => {
    await using world = await startManagementWorld();
    for (const name of ['a', 'b', 'c']) await register(world.client, name);
    const finalizers = { metadata: { finalizers: ['example.com/wait'] } };
    await world.client.patch(ControlPlaneRegistration, { name: 'c' }, { type: 'merge', body: finalizers });
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    await changeSpec(world.client, 'a', { services: ['workloads'] });
    await heard.until(() => !heard.clusters.has('a'));
    await world.client.delete(ControlPlaneRegistration, { name: 'b' });
    await heard.until(() => !heard.clusters.has('b'));
    await world.client.delete(ControlPlaneRegistration, { name: 'c' });
    await heard.until(() => !heard.clusters.has('c'));
    await changeSpec(world.client, 'a', { services: ['scheduler'] });
    assert.deepEqual(servicesOf(await heard.cluster('a')), ['scheduler']);
  });

  test('one that names another control plane is that one, and takes nothing of the first with it', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'r', { controlPlane: 'a' });
    await resolve(world.client, 'r', secretOf('a'));
    await using heard = new Heard(fleetOf(world));
    await heard.cluster('a');
    await changeSpec(world.client, 'r', { controlPlaneRef: { name: 'b' } });
    const { secret, address } = await heard.cluster('b');
    assert.deepEqual([secret, address], [undefined, undefined], 'what is said is still about the other one');
    assert.deepEqual([...heard.clusters.keys()], ['b']);
    assert.deepEqual(heard.events.slice(-2), ['-a', '+b']);
    await resolve(world.client, 'r', secretOf('b'));
    await heard.cluster('b', (one) => one.secret?.name === secretOf('b').name);
  });

  test('of several, the oldest counts for each service, and the next one when it goes', async () => {
    await using world = await startManagementWorld();
    const { client } = world;
    await register(client, 'r1', { controlPlane: 'a', services: ['controllers'] });
    await register(client, 'r2', { controlPlane: 'a', services: ['controllers', 'scheduler'] });
    await resolve(client, 'r1', secretOf('one'), 'https://one');
    await resolve(client, 'r2', secretOf('two'), 'https://two');
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    const both = heard.clusters.get('a')!;
    assert.deepEqual([both.source.name, both.address], ['r1', 'https://one']);
    const [controllers, scheduler] = [ofService(both, 'controllers'), ofService(both, 'scheduler')];
    assert.deepEqual([controllers.source.name, controllers.secret], ['r1', secretOf('one')]);
    assert.deepEqual([scheduler.source.name, scheduler.secret], ['r2', secretOf('two')]);
    assert.deepEqual(Object.keys(scheduler.source).sort(), ['kind', 'name', 'uid']);
    await client.delete(ControlPlaneRegistration, { name: 'r1' });
    const rest = await heard.cluster('a', ({ source }) => source.name === 'r2');
    assert.equal(rest.sources, undefined);
    assert.deepEqual(servicesOf(rest), ['controllers', 'scheduler']);
    assert.ok(!heard.events.includes('-a'), 'the cluster was there all the time');
  });

  test('secrets outside of the namespace that may be used are not known, which is said', async () => {
    await using world = await startManagementWorld();
    await register(world.client, 'a');
    await resolve(world.client, 'a', secretOf('a'));
    await using heard = new Heard(fleetOf(world, { namespaceScope: 'fleet' }));
    await heard.until(() => heard.isSynced);
    assert.equal(heard.clusters.get('a')!.secret, undefined);
    assert.equal(world.lines.filter((line) => line.includes('kplane-cp-a/controlplane-a-kubeconfig')).length, 1);
    await resolve(world.client, 'a', { namespace: 'fleet', name: 'a' });
    await heard.cluster('a', ({ secret }) => secret?.namespace === 'fleet');
    await resolve(world.client, 'a', secretOf('a'));
    await heard.cluster('a', ({ secret }) => secret === undefined);
  });

  test('a management plane that goes away takes nothing back; what happened meanwhile is told then', async () => {
    await using world = await startManagementWorld();
    for (const name of ['a', 'b']) await register(world.client, name);
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    world.faults.failNext(1);
    world.faults.cutWatches();
    await world.client.delete(ControlPlaneRegistration, { name: 'a' });
    await register(world.client, 'c');
    await heard.cluster('c');
    await heard.until(() => !heard.clusters.has('a'));
    assert.deepEqual(
      heard.events.filter((event) => event.endsWith('b')),
      ['+b'],
    );
  });

  test('definitions that come late are waited for', async () => {
    await using world = await startManagementWorld();
    world.faults.refuseNext({ status: 404, reason: 'NotFound' }, 1);
    await using heard = new Heard(fleetOf(world));
    await register(world.client, 'a');
    await heard.cluster('a');
    await heard.until(() => heard.isSynced);
  });

  test('in whatever order things happen, it ends as one that begins then would begin', async () => {
    for (let seed = 0; seed < 4; seed++) {
      await using world = await startManagementWorld();
      const { client } = world;
      const chosen = seededRandom(seed);
      const there = new Set<string>();
      await using heard = new Heard(fleetOf(world));
      const anyServices = () => ['controllers', 'scheduler', 'workloads'].filter(() => chance(chosen, 0.5));
      const anyPlane = () => pick(chosen, ['a', 'b', 'c']);
      for (let step = 0; step < 80; step++) {
        const name = pick(chosen, ['r1', 'r2', 'r3', 'r4', 'r5']);
        if (!there.has(name)) {
          await register(client, name, { controlPlane: anyPlane(), services: anyServices() });
          there.add(name);
          continue;
        }
        const steps = [
          () => resolve(client, name, secretOf(`${step}`), `https://${step}`),
          () => changeSpec(client, name, { services: anyServices() }),
          () => changeSpec(client, name, { controlPlaneRef: { name: anyPlane() } }),
          async () => {
            await client.delete(ControlPlaneRegistration, { name });
            there.delete(name);
          },
          () => world.faults.endWatches(),
        ];
        await pick(chosen, steps)();
      }
      // A new fleet cannot know the last status before it was removed, so every status is set again.
      for (const name of there) await resolve(client, name, secretOf(name));
      await register(client, 'last');
      await heard.cluster('last');
      await using fresh = new Heard(fleetOf(world));
      await fresh.until(() => fresh.isSynced);
      assert.deepEqual(sorted(heard), sorted(fresh), `seed ${seed}`);
    }
  });
});

const sorted = ({ clusters }: Heard) => [...clusters.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
