import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { seededRandom } from '@hangar/core';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { until, untilReady } from '../testing/until.ts';
import { AddonResync } from './addon-resync.ts';
import { startDedicatedPlatform } from './testing/dedicated-platform.ts';

test('resyncs are spread over the interval, first and later', () => {
  let nowMs = 1_000;
  const resync = new AddonResync({ clock: { now: () => nowMs }, random: seededRandom(3), intervalMs: 600_000 });
  const names = Array.from({ length: 1_000 }, (_, at) => `cp-${at}`);
  const minutes = new Map<number, number>();
  for (const name of names) {
    const atMs = resync.dueAtMs(name);
    assert.equal(resync.dueAtMs(name), atMs, 'it does not move');
    const minute = Math.floor((atMs - nowMs) / 60_000);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  assert.equal(minutes.size, 10);
  assert.ok(Math.max(...minutes.values()) < 150, [...minutes.values()].join());
  nowMs = 700_000;
  for (const name of names) {
    resync.done(name);
    const delayMs = resync.dueAtMs(name) - nowMs;
    assert.ok(delayMs >= 540_000 && delayMs <= 660_000, String(delayMs));
  }
  const before = resync.dueAtMs('cp-0');
  resync.forget('cp-0');
  assert.notEqual(resync.dueAtMs('cp-0'), before);
});

test('a changed and a deleted object of an addon inside a dedicated control plane are repaired', async () => {
  await using the = await startDedicatedPlatform({ addonResyncMs: 50 });
  const { client } = the;
  the.platform.start();
  const spec = { addons: ['starter'], deletionPolicy: 'Destroy' as const };
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec });
  await client.create(ControlPlane, {
    metadata: { name: 'big' },
    spec: { mode: 'Dedicated', classRef: { name: 'gold' } },
  });
  await untilReady(client, 'big');
  const inside = await the.hosted.inside('big');
  const key = { namespace: 'kplane-system', name: 'welcome' };
  const { data } = await inside.get(ConfigMap, key);
  const [field] = Object.keys(data!);
  await inside.patch(ConfigMap, key, { type: 'merge', body: { data: { [field!]: 'changed' } } });
  await until(inside, ConfigMap, 'welcome', (one) => one?.data?.[field!] === data![field!], key.namespace);
  const { metadata } = await inside.get(ConfigMap, key);
  await inside.delete(ConfigMap, key);
  await until(
    inside,
    ConfigMap,
    'welcome',
    (one) => one !== undefined && one.metadata.uid !== metadata.uid,
    key.namespace,
  );
});

test('a control plane without addons is not entered again', async () => {
  await using the = await startDedicatedPlatform({ addonResyncMs: 10 });
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlane, {
    metadata: { name: 'big' },
    spec: { mode: 'Dedicated', deletionPolicy: 'Destroy' },
  });
  await untilReady(client, 'big');
  await the.platform.quiet();
  the.platform.forget();
  // More than ten intervals.
  await the.platform.quiet();
  assert.deepEqual(the.platform.requests, []);
});
