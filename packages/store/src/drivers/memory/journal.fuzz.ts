/**
 * Damaged journals. Recovery always returns whole groups from the beginning, or fails with `StorageDamaged`. A journal with forged
 * checksums may hold anything: then no other error may be thrown.
 */

import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { chance, pick, seededRandom, systemClock } from '@hangar/core';
import type { Random } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import type { Revision } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import { damage } from '@hangar/core/testing';
import { Journal } from './journal.ts';
import type { Mutation } from './mutation.ts';

const path = '/data/journal';
const headerBytes = 8;
const recordHeaderBytes = 12;

export async function fuzz(random: Random): Promise<void> {
  const groups = Array.from({ length: random.below(6) }, () => someGroup(random));
  const disk = new VirtualDisk({ clock: systemClock, random: seededRandom(0), latencyMaxMs: 0 });
  const journal = await Journal.open(disk, '/data', () => {});
  for (const group of groups) await journal.append(group);
  const whole = disk.peek(path)!;
  const forged = chance(random, 0.2);
  disk.poke(path, forged ? forge(random, whole) : damage(random, whole));

  const recovered: Mutation[][] = [];
  try {
    await Journal.open(disk, '/data', (group) => recovered.push(group));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'StorageDamaged') return;
    throw error;
  }
  if (forged) return;
  assert.ok(recovered.length <= groups.length, 'more groups than were written');
  recovered.forEach((group, at) => assert.deepEqual(group, plain(groups[at]!), `group ${at}`));
  // A second recovery gives the same result.
  let again = 0;
  await Journal.open(disk, '/data', () => again++);
  assert.equal(again, recovered.length);
}

function someGroup(random: Random): Mutation[] {
  return Array.from({ length: 1 + random.below(4) }, () => someMutation(random));
}

function someMutation(random: Random): Mutation {
  const id = random.below(pick(random, [2, 300, 2 ** 32]));
  switch (random.below(6)) {
    case 0:
      return { type: 'addLease', lease: { id: `lease${id}` as never, ttlMs: 1_000 + id } };
    case 1:
      return { type: 'removeLease', id: `lease${id}` as never };
    case 2:
      return { type: 'compact', revision: id as Revision };
    case 3:
      return { type: 'removeRow', id };
    default: {
      const revision = id as Revision;
      const value = chance(random, 0.3) ? undefined : random.bytes(random.below(pick(random, [4, 700])));
      const lease = chance(random, 0.2) ? ('lease1' as never) : undefined;
      const key = pick(random, ['a', 'é/\u{1f680}', 'k'.repeat(random.below(300) + 1)]);
      const modRevision = chance(random, 0.2) ? (random.below(id + 1) as Revision) : undefined;
      return {
        type: 'append',
        row: { id, revision, key, value, createRevision: revision, modRevision, version: 1, lease, previousId: 0 },
      };
    }
  }
}

/** Changes bytes inside records and corrects their checksums. */
function forge(random: Random, bytes: Uint8Array): Uint8Array {
  const forged = Buffer.from(bytes);
  for (let at = headerBytes; at + recordHeaderBytes <= forged.length;) {
    const length = forged.readUInt32LE(at);
    const end = at + recordHeaderBytes + length;
    for (let changes = length === 0 ? 0 : random.below(3); changes > 0; changes--) {
      forged[at + recordHeaderBytes + random.below(length)] = random.below(256);
    }
    forged.writeUInt32LE(crc32(forged.subarray(at + 8, end)), at + 4);
    at = end;
  }
  return forged;
}

/** Converts bytes to a plain array, as recovery returns them. */
function plain(group: readonly Mutation[]): Mutation[] {
  return group.map((mutation) => {
    if (mutation.type !== 'append' || !mutation.row.value) return mutation;
    return { type: 'append', row: Object.assign({}, mutation.row, { value: new Uint8Array(mutation.row.value) }) };
  });
}
