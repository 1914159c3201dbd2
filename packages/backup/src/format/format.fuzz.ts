/**
 * Damaged and forged containers. A reader returns exactly the payload that was written and finishes, or throws a typed error; it never
 * returns a byte of a damaged chunk.
 */

import assert from 'node:assert/strict';
import { chance, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { BackupError } from '../errors.ts';
import { damage } from '@hangar/core/testing';
import { collected, inPieces, manifest, testKey } from '../testing/streams.ts';
import { readContainer } from './read.ts';
import { writeContainer } from './write.ts';

const codes: ReadonlySet<string> = new Set([
  'NotABackup',
  'UnsupportedVersion',
  'Truncated',
  'Corrupted',
  'KeyRequired',
  'WrongKey',
  'NotEncrypted',
]);

export async function fuzz(random: Random): Promise<void> {
  const key = chance(random, 0.5) ? testKey : undefined;
  const payload = Buffer.from(random.bytes(random.below(pick(random, [2, 200, 3_000]))));
  const compression = pick(random, ['zstd', 'none'] as const);
  const options = { manifest, key, compression, chunkBytes: 1 + random.below(1_000) };
  const make = (seed: number) =>
    collected(writeContainer(inPieces(payload, 100), { ...options, random: seededRandom(seed) }));
  const [container, other] = [await make(1), await make(2)];
  const sent = chance(random, 0.1) ? container : damaged(random, container, other);
  // All pieces of the other container are that container.
  const isWhole = sent.equals(container) || sent.equals(other);
  const given: Buffer[] = [];
  try {
    const opened = await readContainer(inPieces(sent, 1 + random.below(500)), { key });
    for await (const chunk of opened.payload) given.push(Buffer.from(chunk));
  } catch (error) {
    if (!(error instanceof BackupError) || !codes.has(error.code)) throw error;
    assert.ok(!isWhole, `a whole container is refused: ${error.message}`);
    const bytes = Buffer.concat(given);
    assert.ok(bytes.equals(payload.subarray(0, bytes.length)), 'bytes of a damaged chunk were returned');
    return;
  }
  assert.ok(isWhole, 'a damaged container was read');
  assert.ok(Buffer.concat(given).equals(payload));
}

/** Random damage, or pieces of another container of the same payload and key. */
function damaged(random: Random, container: Buffer, other: Buffer): Buffer {
  if (chance(random, 0.7)) return Buffer.from(damage(random, container));
  const at = random.below(container.length);
  const end = at + random.below(container.length - at + 1);
  return Buffer.concat([container.subarray(0, at), other.subarray(at, end), container.subarray(end)]);
}
