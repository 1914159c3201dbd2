/** A hundred at once. How quick five hundred are is measured by bench/controlplanes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlPlane } from './api/index.ts';
import { startTestPlatform } from './testing/platform.ts';
import { isReady } from './testing/until.ts';

const count = 100;

test('a hundred control planes that are made at once become ready together, cost a bounded number of requests, and then none', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  const { resourceVersion } = await client.list(ControlPlane);
  const names = Array.from({ length: count }, (_, at) => `cp-${at}`);
  const waiting = new Set(names);
  const signal = AbortSignal.timeout(60_000);
  const allReady = (async () => {
    for await (const event of client.watch(ControlPlane, { resourceVersion, signal })) {
      if (event.type !== 'BOOKMARK' && isReady(event.object)) waiting.delete(event.object.metadata.name!);
      if (waiting.size === 0) return;
    }
  })();
  await Promise.all(names.map((name) => client.create(ControlPlane, { metadata: { name }, spec: {} })));
  await allReady;
  await platform.quiet();
  const each = platform.requests.length / count;
  // Three of them record Events: Created, Provisioned, Ready.
  assert.ok(each <= 37, `${each} requests for each`);
  platform.forget();
  await operator.stop();
  platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  assert.ok(
    platform.requests.length < 30,
    `a restart asks for ${platform.requests.length} things, whatever the number of control planes`,
  );
});
