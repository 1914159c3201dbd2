/**
 * Damaged databases with a correct SHA-256, as a faulty or hostile writer makes them. The reader returns a summary or fails with
 * `StorageDamaged`: it never fails otherwise, and never reads a page twice.
 */

import assert from 'node:assert/strict';
import { pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { StoreError } from '../../../errors.ts';
import { fnv1a } from './bolt-page.ts';
import { summarizeDatabase } from './snapshot-file.ts';
import { boltDatabase } from './testing/bolt-writer.ts';
import { entriesOf, inMemory } from './testing/history.ts';

const pageBytes = 1_024;

export async function fuzz(random: Random): Promise<void> {
  const history = Array.from({ length: random.below(40) }, (): readonly [string, string | undefined] => [
    `k${random.below(8)}`,
    pick(random, [undefined, '', 'v', 'long'.repeat(400)]),
  ]);
  const layout = { pageBytes, fanOut: 2 + random.below(5), inlineMax: pick(random, [0, 3]) };
  const database = boltDatabase({ key: entriesOf(history), meta: [] }, layout);
  for (let damages = 1 + random.below(4); damages > 0; damages--) damagePage(random, database);
  const bytes = random.below(10) === 0 ? database.subarray(0, random.below(database.length)) : database;
  let reads = 0;
  const file = inMemory(bytes);
  const counted = { ...file, read: (position: number, length: number) => (reads++, file.read(position, length)) };
  try {
    await summarizeDatabase(counted, { seenSlots: 64 });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'StorageDamaged')) throw error;
  }
  // Twice for a page with overflow, once more for the root, and the meta pages.
  assert.ok(reads <= 4 * (database.length / pageBytes) + 10, `${reads} reads`);
}

/** Changes numbers of headers and elements more often than content. */
function damagePage(random: Random, database: Buffer): void {
  const page = random.below(database.length / pageBytes);
  const at = page * pageBytes + random.below(pick(random, [16, 48, pageBytes]));
  database[at] = pick(random, [0, 1, 2, 3, 4, 16, 255, random.below(256)]);
  if (page > 1) return;
  const meta = page * pageBytes + 16;
  if (random.below(2) === 0) database.writeBigUInt64LE(fnv1a(database.subarray(meta, meta + 56)), meta + 56);
}
