/** One path, one control plane. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, ControlPlane } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { isReady, until, untilGone, untilReady, untilReason } from '../testing/until.ts';

test('of two control planes that want one path at the same moment one gets it, and the other when that one is gone', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  for (let round = 0; round < 8; round++) {
    const names = [`shop-${round}`, `other-${round}`] as const;
    // One has the path by its name, the other requests it.
    await Promise.all([
      client.create(ControlPlane, { metadata: { name: names[0] }, spec: { deletionPolicy: 'Destroy' } }),
      client.create(ControlPlane, {
        metadata: { name: names[1] },
        spec: { deletionPolicy: 'Destroy', virtual: { clusterPath: names[0] } },
      }),
    ]);
    const settled = await Promise.all(
      names.map((name) =>
        until(
          client,
          ControlPlane,
          name,
          (one) => isReady(one) || findCondition(one?.status?.conditions, 'Accepted')?.reason === 'ClusterPathConflict',
        ),
      ),
    );
    const winners = settled.filter((one) => isReady(one));
    assert.equal(winners.length, 1);
    const winner = winners[0]!;
    const loser = settled.find((one) => one !== winner)!;
    assert.match(
      findCondition(loser.status?.conditions, 'Accepted')!.message,
      new RegExp(`already used by ControlPlane "${winner.metadata.name}"`),
    );
    const tenant = await client.get(Tenant, { name: names[0] });
    assert.equal(tenant.metadata.annotations?.[annotations.uid], winner.metadata.uid);
    await client.delete(ControlPlane, { name: winner.metadata.name! });
    await untilReady(client, loser.metadata.name!);
    await client.delete(ControlPlane, { name: loser.metadata.name! });
    await untilGone(client, ControlPlane, loser.metadata.name!);
  }
});

test('the end of a control plane that did not get its path leaves the one that did alone', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: {} });
  await untilReady(client, 'shop');
  await platform.inside('shop').create(ConfigMap, { metadata: { namespace: 'default', name: 'mark' } });
  await client.create(ControlPlane, {
    metadata: { name: 'late' },
    spec: { deletionPolicy: 'Destroy', virtual: { clusterPath: 'shop' } },
  });
  await untilReason(client, 'late', 'ClusterPathConflict');
  await client.delete(ControlPlane, { name: 'late' });
  await untilGone(client, ControlPlane, 'late');
  await platform.inside('shop').get(ConfigMap, { namespace: 'default', name: 'mark' });
  assert.ok(isReady(await client.get(ControlPlane, { name: 'shop' })));
});

test('a tenant that no operator made is never touched', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const made = await client.create(Tenant, { metadata: { name: 'byhand' }, spec: {} });
  await client.create(ControlPlane, { metadata: { name: 'byhand' }, spec: { deletionPolicy: 'Destroy' } });
  const refused = await untilReason(client, 'byhand', 'ClusterPathConflict', 'Accepted');
  assert.match(findCondition(refused.status?.conditions, 'Ready')!.message, /does not belong to a ControlPlane/);
  await client.delete(ControlPlane, { name: 'byhand' });
  await untilGone(client, ControlPlane, 'byhand');
  const there = await client.get(Tenant, { name: 'byhand' });
  assert.equal(there.metadata.resourceVersion, made.metadata.resourceVersion);
});

test('a path cannot be changed', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: {} });
  const body = { spec: { virtual: { clusterPath: 'elsewhere' } } };
  await assert.rejects(client.patch(ControlPlane, { name: 'shop' }, { type: 'merge', body }), { code: 'Invalid' });
});
