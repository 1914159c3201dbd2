/** Lost requests and lost responses: the controllers reach the desired state, and do nothing else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError, find, RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import { GarbageCollector } from './garbage-collection/controller.ts';
import { NamespaceController } from './namespaces/controller.ts';
import { eventually, runControllers } from './testing/run-controllers.ts';

/** Loses one request in `oneIn`, and as many responses; the client does not retry. */
const unreliable = (transport: HttpTransport, random: Random, oneIn: number): Client =>
  new RestClient(
    {
      async request(request) {
        const dice = random.below(oneIn);
        if (dice === 0) throw new ClientError('ConnectionLost', 'the request was lost');
        const answer = await transport.request(request);
        if (dice !== 1) return answer;
        await answer.body();
        throw new ClientError('ConnectionLost', 'the answer was lost');
      },
      close: () => transport.close(),
    },
    { retry: false },
  );

const namespace = 'default';
const isGone = async (client: Client, name: string): Promise<boolean> =>
  (await find(client, ConfigMap, { namespace, name })) === undefined;
/**
 * A pass of three requests fails with a probability of 0.7, and each failure doubles the delay before the next pass: one item in a
 * hundred needs 40 s.
 */
const within = { withinMs: 100_000 };

for (const seed of [1, 2, 3]) {
  test(`garbage goes though every third request fails, seed ${seed}`, async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const client = fleet.clientOf('red');
    const lossy = unreliable(fleet.transportOf('red'), seededRandom(seed), 6);
    await using controllers = runControllers(fleet, {
      controllers: (world) => [new GarbageCollector(world)],
      clientOf: (cluster) => (cluster === 'red' ? lossy : fleet.client),
    });
    await controllers.synced;
    const policies = { background: 'Background', foreground: 'Foreground', orphaning: 'Orphan' } as const;
    for (const name of [...Object.keys(policies), 'kept']) {
      const { apiVersion, kind, metadata } = await client.create(ConfigMap, { metadata: { namespace, name } });
      const owner = { apiVersion, kind, name, uid: metadata.uid! };
      for (let at = 0; at < 5; at++) {
        const ownerReferences = [{ ...owner, blockOwnerDeletion: at % 2 === 0 }];
        await client.create(ConfigMap, { metadata: { namespace, name: `of-${name}-${at}`, ownerReferences } });
      }
    }
    for (const [name, propagationPolicy] of Object.entries(policies)) {
      await client.delete(ConfigMap, { namespace, name }, { propagationPolicy });
    }
    for (const name of Object.keys(policies)) await eventually(() => isGone(client, name), within);
    for (const name of ['background', 'foreground']) {
      for (let at = 0; at < 5; at++) await eventually(() => isGone(client, `of-${name}-${at}`), within);
    }
    await eventually(() => controllers.set.length === 0, within);
    for (let at = 0; at < 5; at++) {
      assert.ok(!(await isGone(client, `of-kept-${at}`)));
      const orphan = await client.get(ConfigMap, { namespace, name: `of-orphaning-${at}` });
      assert.deepEqual(orphan.metadata.ownerReferences ?? [], []);
    }
    await lossy.close();
  });

  // A pass over a namespace lists every kind, and succeeds only when all requests succeed.
  test(`a namespace goes though requests fail now and then, seed ${seed}`, async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const client = fleet.clientOf('red');
    const lossy = unreliable(fleet.transportOf('red'), seededRandom(seed), 100);
    await using controllers = runControllers(fleet, {
      controllers: (world) => [new NamespaceController(world)],
      clientOf: (cluster) => (cluster === 'red' ? lossy : fleet.client),
    });
    await controllers.synced;
    await client.create(Namespace, { metadata: { name: 'shop' } });
    for (let at = 0; at < 20; at++) {
      await client.create(ConfigMap, { metadata: { namespace: 'shop', name: `m${at}` } });
    }
    await client.delete(Namespace, { name: 'shop' });
    await eventually(async () => (await find(client, Namespace, { name: 'shop' })) === undefined, within);
    assert.deepEqual((await client.list(ConfigMap, { namespace: 'shop' })).items, []);
    await lossy.close();
  });
}
