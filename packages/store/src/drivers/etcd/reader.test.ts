/** Tests how ranges are read in pages, against a scripted etcd that holds a few hundred keys. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Store } from '../../contract.ts';
import { decodeMessage, encodeMessage } from './testing/etcd-proto.ts';
import { openScripted, ScriptedEtcd } from './testing/scripted-etcd.ts';

interface Asked {
  limit: number;
  revision: number;
}

/** Serves `keys`; a page of more than `pageMax` claims to be too large for a message. */
async function setUp(
  context: TestContext,
  options: { keys: readonly Buffer[]; valueBytes: number; pageMax?: number },
): Promise<{ store: Store; asked: Asked[]; etcd: ScriptedEtcd }> {
  const { keys, valueBytes, pageMax = Infinity } = options;
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const asked: Asked[] = [];
  etcd.scripts['Range'] = (call, message) => {
    const request = decodeMessage('RangeRequest', message);
    const limit = Number(request['limit'] ?? 0) || keys.length;
    asked.push({ limit, revision: Number(request['revision'] ?? 0) });
    const rawStart = message.subarray(2, 2 + message[1]!); // the key is the first field, and short
    const from = keys.findIndex((key) => Buffer.compare(key, rawStart) >= 0);
    const page = from < 0 ? [] : keys.slice(from, from + limit);
    if (page.length > pageMax) {
      call.respond();
      call.stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
      return;
    }
    const kvs = page.map((key) => ({
      key,
      mod_revision: 5,
      create_revision: 5,
      version: 1,
      value: Buffer.alloc(valueBytes),
    }));
    const more = from >= 0 && from + page.length < keys.length;
    call.answer(encodeMessage('RangeResponse', { ...etcd.header(), kvs, more, count: keys.length }));
    etcd.revision++; // another client writes between the pages
  };
  return { store, asked, etcd };
}

const textKeys = Array.from({ length: 700 }, (_, at) => Buffer.from(`/k/${String(at).padStart(4, '0')}`));

test('all pages are read at the revision of the first one', async (context) => {
  const { store, asked } = await setUp(context, { keys: textKeys, valueBytes: 10 });
  const { entries, revision, more } = await store.range({ start: '/k/' });
  assert.deepEqual(
    entries.map((entry) => entry.key),
    textKeys.map(String),
  );
  assert.equal(more, false);
  assert.ok(asked.length > 1);
  assert.equal(revision, 10);
  assert.deepEqual(
    asked.map((page) => page.revision),
    [0, ...asked.slice(1).map(() => 10)],
  );
});

test('pages of large values get shorter', async (context) => {
  const { store, asked } = await setUp(context, { keys: textKeys.slice(0, 300), valueBytes: 100_000 });
  const { keys, bytes } = await store.statistics({ start: '/k/' });
  assert.equal(keys, 300);
  assert.equal(bytes, 300 * (100_000 + 7));
  assert.ok(asked[1]!.limit <= 42, String(asked[1]!.limit));
});

test('a page that does not fit into a message is asked for in smaller parts', async (context) => {
  const { store, asked } = await setUp(context, { keys: textKeys.slice(0, 40), valueBytes: 10, pageMax: 5 });
  const { entries } = await store.range({ start: '/k/' });
  assert.equal(entries.length, 40);
  assert.deepEqual(
    asked.slice(0, 4).map((page) => page.limit),
    [256, 64, 16, 4],
  );
});

test('a limit is never exceeded', async (context) => {
  const { store, asked } = await setUp(context, { keys: textKeys, valueBytes: 10 });
  for (const limit of [1, 256, 257, 600]) {
    const { entries, more } = await store.range({ start: '/k/' }, { limit });
    assert.deepEqual([entries.length, more], [limit, true]);
  }
  assert.ok(asked.every((page) => page.limit > 0));
});

test('keys of others that are no text do not stop a listing', async (context) => {
  const keys = Array.from({ length: 600 }, (_, at) => Buffer.of(0xff, at >> 8, at & 0xff));
  const { store } = await setUp(context, { keys, valueBytes: 1 });
  const { entries } = await store.range({ start: '' });
  assert.equal(entries.length, 600);
});
