/**
 * Writes a snapshot of etcd from the frames of another store. Each key has its revisions, version and lease, and the revision of etcd is that of
 * the snapshot, so that a resourceVersion means the same on both. `etcdutl snapshot restore` makes members from the file.
 *
 *     const { revision } = await writeSnapshotFile('/var/lib/hangar/seed.db', frames, { prefix: '/registry/' });
 *
 * Content of the file:
 *
 *     key    for each entry: modRevision (8 bytes big-endian) · "_" · number in the transaction (8 bytes) → mvccpb.KeyValue
 *            the position key at the revision of the snapshot
 *     lease  id (8 bytes big-endian) → leasepb.Lease
 *     meta   the history before the snapshot is compacted
 *
 * etcd takes the revisions and the version of a key from the first entry that it reads, which after a compaction is the only one. Members,
 * consistent index and terms are added by etcdutl.
 *
 * Entries come in the order of their keys and are stored in the order of their revisions: they are sorted on disk.
 */

import { mkdtemp, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MessageWriter } from '@hangar/http2/grpc';
import type { Revision } from '../../../contract.ts';
import { StoreError } from '../../../errors.ts';
import { compareKeys } from '../../../keys.ts';
import type { ReplicaEntry, ReplicaFrame, ReplicaLease } from '../../../replication/frames.ts';
import { leaseNumber } from '../messages/entry.ts';
import { positionKey } from '../messages/replica-txn.ts';
import { digestOf } from './block-reader.ts';
import { BoltFileWriter, writeAll } from './bolt-file-writer.ts';
import type { BoltEntry } from './bolt-file-writer.ts';
import { ExternalSort } from './external-sort.ts';
import type { SortedRecord } from './external-sort.ts';

/** So that no key expires while members are made and started. */
export const leaseTtlMinDefaultMs = 900_000;

export interface WriteSnapshotOptions {
  /** Prefix of the keys in etcd, usually `/registry/`. */
  readonly prefix: string;
  /** For temporary files as large as the snapshot. Absent: the folder of the snapshot. */
  readonly folder?: string | undefined;
  /** Leases get at least this time. Absent: 15 minutes. */
  readonly leaseTtlMinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Size of the runs that are sorted in memory. Absent: 4 MiB. */
  readonly runBytesMax?: number | undefined;
}

export interface WrittenSnapshot {
  readonly revision: Revision;
  readonly entries: number;
  readonly leases: number;
  /** Without the SHA-256 at the end. */
  readonly databaseBytes: number;
}

/**
 * Reads the frames up to `snapshot` and no further. Throws `ImportFailed` if they are not in order or end early, and removes the file after
 * any failure.
 */
export async function writeSnapshotFile(
  path: string,
  frames: AsyncIterable<ReplicaFrame>,
  options: WriteSnapshotOptions,
): Promise<WrittenSnapshot> {
  const folder = await mkdtemp(join(options.folder ?? dirname(path), '.snapshot-'));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const spool = async (name: string): Promise<ExternalSort> => {
    const file = opened.adopt(await open(join(folder, name), 'w+'), (one) => one.close());
    return new ExternalSort(file, { ...(options.runBytesMax && { runBytesMax: options.runBytesMax }) });
  };
  const content = { entries: await spool('entries'), leases: await spool('leases') };
  const { revision, entries } = await readFrames(frames, content, options);
  const file = await open(path, 'w+');
  try {
    const { databaseBytes, leases } = await writeDatabase(file, content, revision);
    await writeAll(file, [await digestOf(file, databaseBytes, options.signal)], databaseBytes);
    await file.sync();
    await file.close();
    return { revision, entries, leases, databaseBytes };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

interface SpooledContent {
  readonly entries: ExternalSort;
  readonly leases: ExternalSort;
}

async function readFrames(
  frames: AsyncIterable<ReplicaFrame>,
  content: SpooledContent,
  { prefix, signal, leaseTtlMinMs = leaseTtlMinDefaultMs }: WriteSnapshotOptions,
): Promise<{ readonly revision: Revision; readonly entries: number }> {
  let [entries, newest, lastKey]: [number, number, string] = [0, 0, ''];
  for await (const frame of frames) {
    signal?.throwIfAborted();
    if (frame.type === 'snapshot') {
      const { revision } = frame;
      if (!(revision >= Math.max(1, newest))) throw failed(`an entry has revision ${newest}, the snapshot ${revision}`);
      if ((frame.entries ?? entries) !== entries) throw failed(`${entries} of ${frame.entries} entries were sent`);
      return { revision, entries };
    }
    if (frame.type !== 'entry') throw failed(`a frame of type ${frame.type} comes before the end of the snapshot`);
    const { entry } = frame;
    if (compareKeys(lastKey, entry.key) >= 0) throw failed(`the key ${JSON.stringify(entry.key)} is not in order`);
    checkNumbers(entry);
    [lastKey, newest] = [entry.key, Math.max(newest, entry.modRevision)];
    entries++;
    if (entry.lease) {
      const id = leaseIdOf(entry.lease);
      await content.leases.add(BigInt.asUintN(64, id), encodeLease(id, Math.max(leaseTtlMinMs, entry.lease.ttlMs)));
    }
    const writing = content.entries.add(BigInt(entry.modRevision), encodeEntry(`${prefix}${entry.key}`, entry));
    if (writing) await writing;
  }
  signal?.throwIfAborted();
  throw failed('the frames end before the snapshot is complete');
}

function checkNumbers({ key, createRevision, modRevision, version }: ReplicaEntry): void {
  const isValid =
    [createRevision, modRevision, version].every((one) => Number.isSafeInteger(one) && one >= 1) &&
    createRevision <= modRevision;
  if (!isValid) throw failed(`the key ${JSON.stringify(key)} has invalid revisions`);
}

function leaseIdOf({ id }: ReplicaLease): bigint {
  const number = leaseNumber(id);
  if (number === undefined) throw failed(`etcd cannot have a lease with the id ${JSON.stringify(id)}`);
  return number;
}

const encodeEntry = (key: string, entry: Omit<ReplicaEntry, 'key'>): Buffer => {
  const writer = new MessageWriter(key.length + entry.value.length + 64);
  if (entry.lease) writer.int64(6, leaseIdOf(entry.lease));
  return writer
    .bytes(5, entry.value)
    .uint(4, entry.version)
    .uint(3, entry.modRevision)
    .uint(2, entry.createRevision)
    .string(1, key)
    .finish();
};

const encodeLease = (id: bigint, ttlMs: number): Buffer =>
  new MessageWriter(32)
    .uint(2, Math.ceil(ttlMs / 1000))
    .int64(1, id)
    .finish();

async function writeDatabase(
  file: FileHandle,
  content: SpooledContent,
  revision: Revision,
): Promise<{ readonly databaseBytes: number; readonly leases: number }> {
  const bolt = new BoltFileWriter(file);
  await bolt.addBucket('key', changes(content.entries.sorted(), revision));
  let leases = 0;
  await bolt.addBucket(
    'lease',
    leaseEntries(content.leases.sorted(), () => leases++),
  );
  const compacted = placeOf(BigInt(revision), 0);
  await bolt.addBucket('meta', [
    { key: Buffer.from('finishedCompactRev'), value: compacted },
    { key: Buffer.from('scheduledCompactRev'), value: compacted },
  ]);
  return { databaseBytes: await bolt.finish(), leases };
}

async function* changes(records: AsyncIterable<SortedRecord>, revision: Revision): AsyncGenerator<BoltEntry> {
  let [last, sub] = [0n, 0];
  for await (const { number, bytes } of records) {
    sub = number === last ? sub + 1 : 0;
    last = number;
    yield { key: placeOf(number, sub), value: bytes };
  }
  // etcd takes its revision from the last change.
  const position = { value: Buffer.alloc(0), createRevision: revision, modRevision: revision, version: 1 };
  const number = BigInt(revision);
  yield { key: placeOf(number, number === last ? sub + 1 : 0), value: encodeEntry(positionKey, position) };
}

async function* leaseEntries(records: AsyncIterable<SortedRecord>, onLease: () => void): AsyncGenerator<BoltEntry> {
  let last: bigint | undefined;
  for await (const { number, bytes } of records) {
    if (number === last) continue;
    last = number;
    onLease();
    const key = Buffer.alloc(8);
    key.writeBigUInt64BE(number);
    yield { key, value: bytes };
  }
}

function placeOf(revision: bigint, sub: number): Buffer {
  const place = Buffer.alloc(17);
  place.writeBigUInt64BE(revision);
  place[8] = 0x5f;
  place.writeBigUInt64BE(BigInt(sub), 9);
  return place;
}

const failed = (what: string): StoreError => new StoreError('ImportFailed', `cannot write a snapshot of etcd: ${what}`);
