import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { ContentDigest } from '@hangar/store/etcd-snapshot';
import { summarizeKeys } from './summarize.ts';

const { signal } = new AbortController();

test('all pages of one revision are in the summary, without volatile keys', async (context) => {
  const store = await openMemoryStore({ clock: systemClock, random: systemRandom });
  context.after(() => store.close());
  const expected = new ContentDigest();
  for (let at = 0; at < 501; at++) {
    const [key, value] = [`/registry/pods/default/${at}`, Buffer.from(`value ${at}`)];
    await store.commit([{ type: 'put', key, value }]);
    expected.add(Buffer.from(key), value);
  }
  for (const key of ['/registry/events/a', '/registry/leases/b', 'compact_rev_key']) {
    await store.commit([{ type: 'put', key, value: Buffer.from('x') }]);
  }
  const { entries, digest } = expected.summary();
  const { revision } = await store.get('/');
  assert.deepEqual(await summarizeKeys(store, signal), {
    objects: entries,
    contentDigest: digest,
    revision: String(revision),
  });
});
