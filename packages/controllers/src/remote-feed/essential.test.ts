/** The essential controllers over the feed of another process, with clients over sockets, as outside of the platform. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { installCrd, startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { remoteControllers } from '../essential-set.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { ownedBy, Place, scenarios } from '../testing/scenarios.ts';
import { widgets } from '../testing/widgets.ts';
import { remoteFeed } from './remote-feed.ts';
import { Breakable } from './testing/breakable.ts';

const world = { clock: systemClock, random: systemRandom };
const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });

describe('controllers of another process', () => {
  const opened = new AsyncDisposableStack();
  let fleet: TestFleet;
  let red: Client;

  before(async () => {
    fleet = opened.use(await startTestFleet({ clusters: ['red', 'blue'], listen: true }));
    const clients = new Map<string | undefined, Client>();
    opened.defer(async () => {
      await Promise.all(Array.from(clients.values(), (client) => client.close()));
    });
    const clientOf = (cluster?: string): Client => {
      let client = clients.get(cluster);
      if (!client) clients.set(cluster, (client = connect(fleet.configOf(cluster), world)));
      return client;
    };
    red = clientOf('red');
    await installCrd(red, widgets);
    const feed = remoteFeed({ ...world, client: clientOf(), log });
    const running = opened.use(runControllers(fleet, { feed, clientOf, controllers: remoteControllers }));
    await running.synced;
  });

  after(() => opened.disposeAsync());

  describe('do what they do at home', { concurrency: true }, () => {
    Object.entries(scenarios).forEach(([what, { act, outcome, expected }], at) => {
      test(what, async () => {
        const place = new Place(red, `scenario-${at}`);
        await red.create(Namespace, { metadata: { name: place.namespace } });
        await act(place);
        await eventually(async () => assert.deepEqual(await outcome(place), expected), { withinMs: 20_000 });
      });
    });
  });

  test('collect Secrets with their owners, though they do not see what is in them', async () => {
    const owner = await red.create(ConfigMap, { metadata: { namespace: 'default', name: 'owner' } });
    const metadata = { namespace: 'default', name: 'owned', ownerReferences: [ownedBy(owner)] };
    await red.create(Secret, { metadata, stringData: { password: 'hunter2' } });
    await red.delete(ConfigMap, { namespace: 'default', name: 'owner' });
    await eventually(async () => (await find(red, Secret, { namespace: 'default', name: 'owned' })) === undefined);
  });

  test('serve a tenant that comes later', async () => {
    const green = await fleet.createCluster('green');
    await green.create(Namespace, { metadata: { name: 'shop' } });
    await green.create(ConfigMap, { metadata: { namespace: 'shop', name: 'a' } });
    await green.delete(Namespace, { name: 'shop' });
    await eventually(async () => (await find(green, Namespace, { name: 'shop' })) === undefined);
  });
});

test('what was deleted while a stream was broken is seen to when there is one again', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  const server = new Breakable(fleet.handler);
  const feed = remoteFeed({ ...world, client: server.client, log });
  await using controllers = runControllers(fleet, { feed, controllers: remoteControllers });
  await controllers.synced;
  const red = fleet.clientOf('red');
  const place = new Place(red, 'default');
  const owner = await place.make('owner');
  await place.make('child', [ownedBy(owner)]);
  await red.create(Namespace, { metadata: { name: 'shop' } });
  server.handler = undefined;
  server.cut();
  await place.remove('owner');
  await red.delete(Namespace, { name: 'shop' });
  assert.deepEqual(await place.states('owner', 'child'), { owner: 'gone', child: 'there owner' });
  server.handler = fleet.handler;
  await eventually(async () => (await place.states('child'))['child'] === 'gone');
  await eventually(async () => (await find(red, Namespace, { name: 'shop' })) === undefined);
});
