/**
 * Fuzzes restores with untrusted files. Every write is inside of the tenant's range, writes each key once and does not touch internal keys
 * of the server; otherwise the file is refused with 400.
 */

import assert from 'node:assert/strict';
import { StatusError } from '@hangar/api';
import { chance, lazy, pick, systemClock } from '@hangar/core';
import type { Random } from '@hangar/core';
import { exportRange, openMemoryStore, readTransfer } from '@hangar/store';
import { openTenantBase } from '../base/base.ts';
import { decodeAbout, encodeAbout } from './about.ts';
import { refused } from './refused.ts';
import { restoredEntries } from './restored-entries.ts';

const prefix = '/registry/clusters/demo/';
const base = lazy(() =>
  openTenantBase({
    serviceAddress: '10.0.0.1',
    serviceCidr: '10.0.0.0/24',
    endpoint: { address: '127.0.0.1', port: 6443 },
    hasAccounts: true,
  }),
);
const world = { base, url: () => '', servingCa: () => '', hasNodes: () => false, clock: systemClock };
const segments = [
  '..',
  '.',
  '',
  'a',
  'b',
  'configmaps',
  'default',
  '.hangar',
  '.hidden',
  'keys',
  'tenant',
  'importing',
  '%2e',
  'ü',
];
const values = [
  '',
  '{}',
  '{"kind":"A","metadata":{}}',
  '{"kind":"A","apiVersion":"v1","metadata":{"name":"a"}}',
  '[',
  'k8s:enc:',
];

export async function fuzz(random: Random): Promise<void> {
  const file = await made(random);
  const written = new Set<string>();
  try {
    const { about: head, entries } = await readTransfer(inChunks(random, file)).catch((error: Error) => {
      throw refused(error.message);
    });
    const about = decodeAbout(head);
    for await (const writes of restoredEntries(entries, { about, path: 'demo', prefix, world: { ...world, random } })) {
      for (const write of writes) {
        assert.ok(write.type === 'put' && write.key.startsWith(prefix));
        const key = write.key.slice(prefix.length);
        assert.ok(!written.has(key), `${key} twice`);
        written.add(key);
        const parts = key.split('/');
        assert.ok(parts.length > 1 && parts.every((part) => part !== '' && part !== '.' && part !== '..'), key);
        assert.ok(!key.startsWith('.') || key.startsWith('.hidden/') || (key === '.hangar/keys' && about.hasKeys), key);
      }
    }
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 'BadRequest') throw error;
  }
}

/** Returns a file, usually with a valid checksum, sometimes damaged. */
async function made(random: Random): Promise<Buffer> {
  const store = await openMemoryStore();
  for (let entries = random.below(6); entries > 0; entries--) {
    const path = Array.from({ length: 1 + random.below(4) }, () => pick(random, segments)).join('/');
    await store.commit([{ type: 'put', key: `x${path}`, value: Buffer.from(pick(random, values)) }]);
  }
  const about = encodeAbout({
    path: pick(random, ['demo', 'other', '..']),
    identity: {
      seed: pick(random, ['0c2c4a4e-6a3b-4b55-9d59-6f1f8d9e8a11', 'x']),
      createdAt: pick(random, ['2026-01-02T03:04:05Z', '2026-99-02T03:04:05Z']),
    },
    revision: 1,
    version: '',
    hasKeys: chance(random, 0.5),
  });
  const file = Buffer.concat(await Array.fromAsync(exportRange(store, { prefix: 'x', about })));
  await store.close();
  if (chance(random, 0.7)) return file;
  const at = random.below(file.length);
  file[at] = random.below(256);
  return chance(random, 0.5) ? file : file.subarray(0, at);
}

async function* inChunks(random: Random, file: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < file.length;) {
    const length = 1 + random.below(100);
    yield file.subarray(at, at + length);
    at += length;
  }
}

export const runsDefault = 5_000;
