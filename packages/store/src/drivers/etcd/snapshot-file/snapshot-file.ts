/**
 * Reads a snapshot of etcd, as `etcdctl snapshot save` and Maintenance.Snapshot write it, and checks it completely: the SHA-256 behind the database,
 * and the structure of every page of the history of keys.
 *
 *     const { revision, entries, contentDigest } = await readSnapshotFile('/var/lib/hangar/snapshot.db');
 *
 * The bucket `key` has one entry for each change: revision (8 bytes big-endian) · "_" · number in the transaction (8 bytes), and "t" behind
 * it for a deletion. The value is a mvccpb.KeyValue. The reader goes from the last change to the first, so the first entry of a key that it
 * sees is the current one. Memory is bounded: the set of seen keys has a fixed size, and if there are more keys, the file is read several
 * times, each time for another part of the keys.
 */

import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { bytesField, MessageReader } from '@hangar/http2/grpc';
import { StoreError } from '../../../errors.ts';
import { blockReader, digestOf, readExactly } from './block-reader.ts';
import { bucketsOf, leavesOf, openBolt } from './bolt-file.ts';
import type { BoltFile, RandomAccess } from './bolt-file.ts';
import { damaged } from './bolt-page.ts';
import type { BucketRoot, LeafElement } from './bolt-page.ts';
import { ContentDigest, isVolatile } from './content-digest.ts';
import { SeenKeys } from './seen-keys.ts';

export interface SnapshotFileSummary {
  /** Of the last change. 1: nothing was ever written. */
  readonly revision: number;
  /** Number of keys that exist. */
  readonly keys: number;
  /** Number of keys without volatile ones. */
  readonly entries: number;
  /** `ContentDigest` of the keys without volatile ones. */
  readonly contentDigest: string;
  /** Bytes of the database, without the SHA-256 at the end. */
  readonly databaseBytes: number;
}

export interface ReadSnapshotOptions {
  readonly signal?: AbortSignal | undefined;
  /** Slots of the set of seen keys, 16 bytes each. A power of two. Absent: 2^20. */
  readonly seenSlots?: number | undefined;
}

const digestBytes = 32;
const revisionBytes = 17;
/** Each part reads the file once. More keys do not fit into the largest supported database. */
const partsMax = 64;
const firstRevision = 1;

/** Throws `StorageDamaged`. */
export async function readSnapshotFile(path: string, options: ReadSnapshotOptions = {}): Promise<SnapshotFileSummary> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const databaseBytes = size - digestBytes;
    // Pages are multiples of 512 bytes, so a file without the digest, or with additional bytes, is detected.
    if (databaseBytes <= 0 || databaseBytes % 512 !== 0) throw damaged(`${size} bytes are not pages and a SHA-256`);
    await verifyDigest(file, databaseBytes, options.signal);
    return await summarizeDatabase(blockReader(file, databaseBytes), options);
  } finally {
    await file.close();
  }
}

/** Reads the file of a database that no process has open, without a SHA-256 behind it. Throws `StorageDamaged`. */
export async function readDatabaseFile(path: string, options: ReadSnapshotOptions = {}): Promise<SnapshotFileSummary> {
  const file = await open(path, 'r');
  try {
    return await summarizeDatabase(blockReader(file, (await file.stat()).size), options);
  } finally {
    await file.close();
  }
}

async function verifyDigest(file: FileHandle, length: number, signal: AbortSignal | undefined): Promise<void> {
  const digest = await digestOf(file, length, signal);
  if (!digest.equals(await readExactly(file, length, digestBytes))) throw damaged('its SHA-256 does not match');
}

/** `file`: the database without the SHA-256. */
export async function summarizeDatabase(
  file: RandomAccess,
  options: ReadSnapshotOptions = {},
): Promise<SnapshotFileSummary> {
  const bolt = await openBolt(file);
  const root = (await bucketsOf(bolt)).get('key');
  if (!root) throw damaged('it has no bucket "key"');
  for (let parts = 1; parts <= partsMax; parts *= 2) {
    const summary = await summarize(bolt, root, parts, options);
    if (summary) return { ...summary, databaseBytes: file.sizeBytes };
  }
  throw new StoreError('ValueTooLarge', 'the snapshot of etcd has too many keys');
}

/** Undefined: there are more keys than the set can hold. */
async function summarize(
  bolt: BoltFile,
  root: BucketRoot,
  parts: number,
  { signal, seenSlots = 2 ** 20 }: ReadSnapshotOptions,
): Promise<Omit<SnapshotFileSummary, 'databaseBytes'> | undefined> {
  const content = new ContentDigest();
  let [revision, keys] = [firstRevision, 0];
  for (let index = 0; index < parts; index++) {
    const seen = new SeenKeys(seenSlots, { index, of: parts });
    for await (const entries of leavesOf(bolt, root)) {
      signal?.throwIfAborted();
      for (const entry of entries) {
        const change = readChange(entry);
        revision = Math.max(revision, change.revision);
        if (!change.key) continue;
        const kind = seen.add(change.key);
        if (kind === 'full') return undefined;
        if (kind !== 'new' || change.isDeletion) continue;
        keys++;
        if (!isVolatile(change.key)) content.add(change.key, change.value);
      }
    }
  }
  const { entries, digest } = content.summary();
  return { revision, keys, entries, contentDigest: digest };
}

interface Change {
  readonly revision: number;
  readonly isDeletion: boolean;
  /** Absent: `etcdutl snapshot restore --bump-revision` adds a change without content. */
  readonly key?: Uint8Array | undefined;
  readonly value: Uint8Array;
}

const none = new Uint8Array(0);

function readChange({ key: place, value: message, isBucket }: LeafElement): Change {
  const isDeletion = place.length === revisionBytes + 1 && place[revisionBytes] === 0x74;
  const isChange = place.length === revisionBytes || isDeletion;
  if (!isChange || isBucket || place[8] !== 0x5f) throw damaged('the bucket "key" has an entry that is not a change');
  const revision = Number(place.readBigUInt64BE(0));
  if (message.length === 0) return { revision, isDeletion, value: none };
  const reader = new MessageReader(message);
  let [key, value]: [Uint8Array, Uint8Array] = [none, none];
  try {
    while (reader.at < message.length) {
      const tag = reader.tag();
      if (tag === bytesField(1)) key = reader.bytes();
      else if (tag === bytesField(5)) value = reader.bytes();
      else reader.skip();
    }
  } catch (error) {
    throw new StoreError('StorageDamaged', damaged('a change cannot be decoded').message, { cause: error });
  }
  if (key.length === 0) throw damaged('a change has no key');
  return { revision, isDeletion, key, value };
}
