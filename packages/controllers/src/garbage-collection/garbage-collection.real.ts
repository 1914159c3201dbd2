/**
 * Runs the same objects, owners and deletions here and with the real kube-controller-manager on the real kube-apiserver: the same objects
 * are deleted, stay, and have the same events. Namespaces are deleted by the same table.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { installCrd, startTestFleet } from '@hangar/testkit';
import { NamespaceController } from '../namespaces/controller.ts';
import { startRealControllers } from '../testing/real-controllers.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { ownedBy, Place, scenarios } from '../testing/scenarios.ts';
import { widgets } from '../testing/widgets.ts';
import { GarbageCollector } from './controller.ts';

const opened = new AsyncDisposableStack();
const clients = new Map<string, Client>();

before(async () => {
  const controllers = ['garbage-collector-controller', 'namespace-controller', 'serviceaccount-controller'];
  const real = opened.use(await startRealControllers(controllers, (client) => installCrd(client, widgets)));
  const fleet = opened.use(await startTestFleet({ clusters: ['red'] }));
  opened.use(
    runControllers(fleet, { controllers: (world) => [new GarbageCollector(world), new NamespaceController(world)] }),
  );
  clients.set('kube-controller-manager', real.client);
  clients.set('hangar', fleet.clientOf('red'));
  await installCrd(clients.get('hangar')!, widgets);
  // The real one reports less about changes before its start.
  for (const client of clients.values()) {
    const place = new Place(client, 'default');
    const owner = await place.make('first');
    await place.make('follows', [ownedBy(owner)]);
    await place.remove('first');
    await eventually(async () => (await place.state(ConfigMap, 'follows')) === 'gone', { withinMs: 30_000 });
  }
});

after(() => opened.disposeAsync());

for (const who of ['kube-controller-manager', 'hangar']) {
  describe(who, { concurrency: true }, () => {
    Object.entries(scenarios).forEach(([what, { act, outcome, expected }], at) => {
      test(what, async () => {
        const place = new Place(clients.get(who)!, `scenario-${at}`);
        await place.client.create(Namespace, { metadata: { name: place.namespace } });
        await act(place);
        await eventually(async () => assert.deepEqual(await outcome(place), expected), { withinMs: 30_000 });
      });
    });
  });
}
