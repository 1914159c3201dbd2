/** A tenant of a Hangar that listens, as one side of a migration. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { startTestFleet } from '@hangar/testkit';
import type { ReplicaFrame, Revision } from '@hangar/store';
import { tenantReplica } from './tenant-replica.ts';

const remote = { server: 'https://127.0.0.1:1', ca: '-----BEGIN CERTIFICATE-----' };

test('a tenant is copied, held, passed on, and receives its content back', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], listen: true });
  const red = fleet.clientOf('red');
  const replica = tenantReplica(fleet.client, 'red');
  const { signal } = new AbortController();
  assert.deepEqual(await replica.state(signal), { serving: 'Local' });
  const keys = await replica.keys(signal);
  assert.match(keys.issuer, /\/clusters\/red\/control-plane$/);
  assert.match(keys.serviceAccountKey, /PRIVATE KEY/);
  await red.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } });
  const frames: ReplicaFrame[] = [];
  const streaming = new AbortController();
  let last = 0 as Revision;
  let held = Infinity;
  for await (const frame of replica.frames(streaming.signal)) {
    frames.push(frame);
    if (frame.type === 'entry') continue;
    last = frame.revision;
    if (frame.type === 'snapshot') {
      await red.create(ConfigMap, { metadata: { namespace: 'default', name: 'two' } });
      const state = await replica.hold('m', signal);
      assert.equal(state.heldBy, 'm');
      held = state.heldAt!;
    }
    if (last >= held) break;
  }
  const before = await replica.digest(signal);
  assert.equal(before.revision, held);
  await assert.rejects(replica.hold('n', signal), { code: 'Conflict' });
  await replica.passTo('m', remote, signal);
  await replica.passTo('m', remote, signal);
  await replica.startReceiving('back', signal);
  for (let at = 0; at < frames.length; at += 50) await replica.receive('back', frames.slice(at, at + 50), signal);
  assert.deepEqual((await replica.state(signal)).received, { by: 'back', revision: last });
  await replica.hold('back', signal);
  assert.equal((await replica.digest(signal)).digest, before.digest);
  await replica.serveReceived('back', last, signal);
  assert.deepEqual(await replica.state(signal), { serving: 'Local' });
  const { items } = await red.list(ConfigMap, { namespace: 'default' });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt'),
    ['one', 'two'],
  );
  await assert.rejects(replica.frames(signal, { after: 1 as Revision }).next(), { code: 'Compacted' });
  await replica.release('back', signal);
});

test('the stream of frames ends with its signal', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], listen: true });
  const stop = new AbortController();
  let isComplete = false;
  for await (const { type } of tenantReplica(fleet.client, 'red').frames(stop.signal)) {
    if (type !== 'snapshot') continue;
    isComplete = true;
    stop.abort();
  }
  assert.ok(isComplete);
});
