import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import * as fc from 'fast-check';
import { encodeHead, readPayload } from './payload.ts';
import type { PayloadHead } from './payload.ts';

const head: PayloadHead = {
  controlPlane: { namespace: 'team', name: 'demo' },
  spec: { version: 'v1.36.4', replicas: 1 },
  annotations: { 'hosted.hangar.dev/rendering': '1' },
  versions: { kubernetes: 'v1.36.4', etcd: '3.6.8' },
  objects: [{ kind: 'Secret', role: 'own', name: 'ca', type: 'cluster.x-k8s.io/secret', data: { 'tls.crt': 'YQ==' } }],
  hasKeys: true,
  snapshot: { bytes: 5, sha256: 'a'.repeat(64), revision: 7, entries: 2, contentDigest: 'b'.repeat(64) },
};

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, size = 3): Promise<{ head: PayloadHead; snapshot: string }> {
  const payload = await readPayload(inChunks(bytes, size));
  const parts: Uint8Array[] = [];
  for await (const part of payload.snapshot) parts.push(part);
  return { head: payload.head, snapshot: Buffer.concat(parts).toString() };
}

const whole = Buffer.concat([encodeHead(head), Buffer.from('pages')]);
const isRefused = (error: unknown): boolean => hasCode(error, 'Refused');

test('a head and a snapshot are read as they were written, for any size of chunks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2_000 }), async (size) => {
      assert.deepEqual(await read(whole, size), { head, snapshot: 'pages' });
    }),
    { numRuns: 50 },
  );
});

test('every truncated payload is refused', async () => {
  for (let length = 0; length < whole.length; length++)
    await assert.rejects(read(whole.subarray(0, length)), isRefused);
});

test('additional bytes, other formats and newer formats are refused', async () => {
  const newer = Buffer.from(whole);
  newer.write('2', 14, 'latin1');
  await assert.rejects(read(newer), /newer than this release supports/);
  for (const bytes of [
    Buffer.concat([whole, Buffer.from('x')]),
    Buffer.from('HANGAR-EXPORT-1\n and more'),
    Buffer.alloc(100),
  ]) {
    await assert.rejects(read(bytes), isRefused);
  }
});

test('a head with wrong fields is refused', async () => {
  const { bytes, ...incomplete } = head.snapshot;
  assert.equal(bytes, 5);
  const wrong: unknown[] = [
    { ...head, snapshot: incomplete },
    { ...head, snapshot: { ...head.snapshot, bytes: -1 } },
    { ...head, objects: [{ kind: 'Pod', role: 'own', name: 'ca' }] },
    { ...head, spec: {} },
    { ...head, controlPlane: 'demo' },
    [],
    null,
  ];
  for (const one of wrong) await assert.rejects(read(encodeHead(one as PayloadHead)), isRefused);
});

test('a length that is too large is refused before the head is read', async () => {
  const large = Buffer.from(whole);
  large.writeUInt32LE(2 ** 31, 16);
  await assert.rejects(read(large), /the maximum is/);
});
