import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { seededRandom, systemClock } from '@hangar/core';
import { fastClock } from '@hangar/core/testing';
import { ControlPlaneEndpoint, servicesAnnotation } from '@hangar/runtime/clusters';
import type { Fleet } from '../contract.ts';
import { endpointFleet } from './endpoint-fleet.ts';
import { Heard } from './testing/heard.ts';
import { startManagementWorld } from './testing/management.ts';
import type { ManagementWorld } from './testing/management.ts';

const fleetOf = ({ watched, log }: ManagementWorld, rest: object = {}): Fleet =>
  endpointFleet({ management: watched, clock: fastClock(), random: seededRandom(1), log, ...rest });

const make = (client: Client, name: string, metadata: object = {}) =>
  client.create(ControlPlaneEndpoint, { metadata: { name, ...metadata }, spec: { endpoint: `https://${name}.spec` } });

describe('the fleet of endpoints', () => {
  test('each is a cluster, with the secret that a template finds', async () => {
    await using world = await startManagementWorld();
    await make(world.client, 'a', { labels: { tier: 'gold' } });
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    const { source, ...rest } = heard.clusters.get('a')!;
    assert.deepEqual([source.kind, source.name], ['ControlPlaneEndpoint', 'a']);
    assert.deepEqual(rest, {
      name: 'a',
      services: new Set(['controllers']),
      labels: { tier: 'gold' },
      address: 'https://a.spec',
      secret: { namespace: 'kplane-cp-a', name: 'controlplane-a-kubeconfig' },
    });
    const body = { status: { endpoint: 'https://a.status' } };
    await world.client.status.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
    await heard.cluster('a', ({ address }) => address === 'https://a.status');
    await world.client.delete(ControlPlaneEndpoint, { name: 'a' });
    await heard.until(() => heard.clusters.size === 0);
  });

  test('an address that is taken back stays, until there is another', async () => {
    await using world = await startManagementWorld();
    const say = (endpoint: string | null) =>
      world.client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body: { spec: { endpoint } } });
    await make(world.client, 'a');
    await using heard = new Heard(fleetOf(world));
    await heard.cluster('a', ({ address }) => address === 'https://a.spec');
    await say(null);
    const body = { metadata: { labels: { tier: 'gold' } } };
    await world.client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
    const { address } = await heard.cluster('a', ({ labels }) => labels['tier'] === 'gold');
    assert.equal(address, 'https://a.spec');
    await say('https://another');
    await heard.cluster('a', ({ address }) => address === 'https://another');
  });

  test('its annotation, else its label, says for which services', async () => {
    await using world = await startManagementWorld();
    const said = (services: string) => ({ annotations: { [servicesAnnotation]: services } });
    await make(world.client, 'a', said('controllers, Scheduler,workloads'));
    await make(world.client, 'b', { labels: { [servicesAnnotation]: 'scheduler' } });
    await make(world.client, 'c', said(''));
    await using heard = new Heard(fleetOf(world));
    await heard.until(() => heard.isSynced);
    assert.deepEqual([...heard.clusters.keys()].sort(), ['a', 'b']);
    assert.deepEqual([...heard.clusters.get('a')!.services], ['controllers', 'scheduler']);
    assert.deepEqual([...heard.clusters.get('b')!.services], ['scheduler']);
    const body = { metadata: said('scheduler') };
    await world.client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
    await heard.cluster('a', ({ services }) => !services.has('controllers'));
    const none = { metadata: { annotations: { [servicesAnnotation]: null } } };
    await world.client.patch(ControlPlaneEndpoint, { name: 'c' }, { type: 'merge', body: none });
    await heard.cluster('c');
  });

  test('with a namespace for all secrets, a template that leaves it finds none', async () => {
    await using world = await startManagementWorld();
    await make(world.client, 'a');
    {
      await using heard = new Heard(fleetOf(world, { namespaceScope: 'fleet', secretTemplate: '{name}-config' }));
      const { secret } = await heard.cluster('a');
      assert.deepEqual(secret, { namespace: 'fleet', name: 'a-config' });
    }
    await using heard = new Heard(fleetOf(world, { namespaceScope: 'fleet', secretTemplate: 'other/{name}' }));
    assert.equal((await heard.cluster('a')).secret, undefined);
    assert.equal(world.lines.filter((line) => line.includes('other/a')).length, 1);
  });

  test('a template that names the same Secret for all clusters is refused', () => {
    const options = { management: {} as Client, clock: systemClock, random: seededRandom(1), log: undefined as never };
    assert.throws(() => endpointFleet({ ...options, secretTemplate: 'a/b' }), { code: 'InvalidOptions' });
  });
});
