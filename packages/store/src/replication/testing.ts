/** Random replication frames, for tests and fuzz targets. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { LeaseId, Revision } from '../contract.ts';
import type { ReplicaEntry, ReplicaFrame } from './frames.ts';

/** Returns a well-formed stream: a snapshot of a few entries, then batches and progress. */
export function randomFrames(random: Random): ReplicaFrame[] {
  const entries = random.below(6);
  let revision = (10 + random.below(1_000)) as Revision;
  const frames: ReplicaFrame[] = [];
  for (let index = 0; index < entries; index++) {
    const entry = randomEntry(random, `key${index}`, (1 + random.below(revision)) as Revision);
    frames.push({ type: 'entry', entry, place: { snapshot: revision, index } });
  }
  frames.push({ type: 'snapshot', revision, entries });
  for (let count = random.below(6); count > 0; count--) {
    const after = revision;
    revision = (revision + 1 + random.below(10)) as Revision;
    if (chance(random, 0.3)) frames.push({ type: 'progress', revision, after });
    else frames.push(randomBatch(random, revision, after));
  }
  return frames;
}

function randomBatch(random: Random, revision: Revision, after: Revision): ReplicaFrame {
  const puts = Array.from({ length: random.below(4) }, (_, at) => randomEntry(random, `put${at}`, revision));
  const deletes = Array.from({ length: random.below(4) }, (_, at) => `deleted${at}`);
  return { type: 'batch', revision, after, puts, deletes };
}

export function randomEntry(random: Random, key: string, modRevision: Revision): ReplicaEntry {
  const version = 1 + random.below(5);
  const createRevision = (version === 1 ? modRevision : 1 + random.below(modRevision)) as Revision;
  const lease = { id: `lease${random.below(3)}` as LeaseId, ttlMs: random.below(100_000) };
  const value = Uint8Array.from(random.bytes(random.below(pick(random, [1, 30, 3_000]))));
  return { key, value, createRevision, modRevision, version, ...(chance(random, 0.3) && { lease }) };
}

export async function* inChunks(random: Random, bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length;) {
    const length = random.below(pick(random, [2, 30, 4_000]));
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
