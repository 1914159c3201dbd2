import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compareKeys } from '@hangar/store';
import { encodeEntries } from '@hangar/store/transfer';
import { SummarizedExport, summaryOf } from './export-summary.ts';

const about = { kind: 'TenantBackup', form: 1, path: 'demo', revision: 7, version: 'v1.2.3', hasKeys: true };

async function exportOf(entries: Readonly<Record<string, string>>, description: object = about): Promise<Buffer> {
  async function* inOrder() {
    for (const key of Object.keys(entries).sort(compareKeys)) yield { key, value: Buffer.from(entries[key]!) };
  }
  return Buffer.concat(await Array.fromAsync(encodeEntries(inOrder(), Buffer.from(JSON.stringify(description)))));
}

async function* cut(bytes: Buffer, length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const entries = { '.hidden/namespaces/kube-public': '', 'configmaps/default/a': '{"a":1}', 'secrets/default/s': '{}' };

test('the bytes pass unchanged, and the summary does not depend on how they are cut', async () => {
  const bytes = await exportOf(entries);
  const wanted = await summaryOf(cut(bytes, bytes.length));
  assert.equal(wanted.objects, 2);
  assert.equal(wanted.revision, '7');
  assert.match(wanted.contentDigest, /^[0-9a-f]{64}$/);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), async (length) => {
      const summarized = await SummarizedExport.open(cut(bytes, length));
      assert.deepEqual(summarized.about, { revision: '7', version: 'v1.2.3', hasKeys: true });
      assert.deepEqual(Buffer.concat(await Array.fromAsync(summarized.content())), bytes);
      assert.deepEqual(await summarized.summary(), wanted);
    }),
    { numRuns: 100 },
  );
});

test('revisions, keys, Events, Leases and derived objects are left out', async () => {
  const wanted = await summaryOf(cut(await exportOf(entries), 64));
  const noise = {
    '.hangar/keys': 'k',
    'events/default/e': '{}',
    'leases/kube-node-lease/n': '{}',
    'configmaps/shop/kube-root-ca.crt': '{}',
    'configmaps/kube-public/cluster-info': '{}',
  };
  const { objects, contentDigest } = await summaryOf(
    cut(await exportOf({ ...entries, ...noise }, { ...about, revision: 9 }), 64),
  );
  assert.deepEqual({ objects, contentDigest }, { objects: wanted.objects, contentDigest: wanted.contentDigest });
});

test('every other difference changes the digest', async () => {
  const variants = [
    entries,
    { ...entries, 'configmaps/default/a': '{"a":2}' },
    { ...entries, 'configmaps/default/b': '{"a":1}' },
    { ...entries, '.hidden/namespaces/default': '' },
    { ...entries, 'configmaps/default/kube-root-ca.crts': '' },
    { 'configmaps/default/a': '{"a":1}', 'secrets/default/s': '{}' },
    {},
  ];
  const digests = await Promise.all(
    variants.map(async (one) => (await summaryOf(cut(await exportOf(one), 64))).contentDigest),
  );
  assert.equal(new Set(digests).size, variants.length);
});

test('a truncated or damaged export is an error, and its source is closed', async () => {
  const bytes = await exportOf(entries);
  for (let length = 0; length < bytes.length; length += 7) {
    await assert.rejects(summaryOf(cut(bytes.subarray(0, length), 16)), { code: 'ImportFailed' }, String(length));
  }
  const damaged = Buffer.from(bytes);
  damaged[damaged.length - 40]! ^= 1;
  await assert.rejects(summaryOf(cut(damaged, 16)), { code: 'ImportFailed' });
  let isClosed = false;
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* cut(bytes, 200);
    } finally {
      isClosed = true;
    }
  }
  const summarized = await SummarizedExport.open(watched());
  for await (const _ of summarized.content()) break;
  assert.ok(isClosed);
});
