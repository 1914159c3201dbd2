/**
 * Files for snapshots on their way. A snapshot is written to a file before it is uploaded, so that a slow bucket does not keep a transaction
 * of etcd open, and before it is restored, so that a damaged backup changes nothing.
 */

import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asError } from '@hangar/core';
import { readSnapshotFile } from '@hangar/store/etcd-snapshot';
import type { SnapshotFacts } from './payload.ts';

const chunkBytes = 2 ** 20;

export interface SpooledSnapshot extends AsyncDisposable {
  readonly path: string;
  readonly facts: SnapshotFacts;
  /** Reads the file from its start. */
  read(): AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Writes a snapshot to a file in a new folder below `folder`, and verifies it. Throws `StorageDamaged`, or the error of the stream; the
 * file is then removed. The caller disposes of the result.
 */
export async function spoolSnapshot(
  content: AsyncIterable<Uint8Array>,
  folder: string,
  signal: AbortSignal,
): Promise<SpooledSnapshot> {
  const own = await mkdtemp(join(folder, 'hangar-snapshot-'));
  const dispose = (): Promise<void> => rm(own, { recursive: true, force: true });
  try {
    const path = join(own, 'snapshot.db');
    return await verified(path, await write(path, content, signal), signal, dispose);
  } catch (error) {
    await dispose();
    throw asError(error);
  }
}

/**
 * The same for a snapshot that `make` writes to the given path. It can use the folder of the path for temporary files.
 */
export async function spoolSnapshotFile(
  make: (path: string) => Promise<unknown>,
  folder: string,
  signal: AbortSignal,
): Promise<SpooledSnapshot> {
  const own = await mkdtemp(join(folder, 'hangar-snapshot-'));
  const dispose = (): Promise<void> => rm(own, { recursive: true, force: true });
  try {
    const path = join(own, 'snapshot.db');
    await make(path);
    return await verified(path, await digestOf(path, signal), signal, dispose);
  } catch (error) {
    await dispose();
    throw asError(error);
  }
}

async function verified(
  path: string,
  written: Written,
  signal: AbortSignal,
  dispose: () => Promise<void>,
): Promise<SpooledSnapshot> {
  const { revision, entries, contentDigest } = await readSnapshotFile(path, { signal });
  return {
    path,
    facts: { ...written, revision, entries, contentDigest },
    read: () => readFile(path),
    [Symbol.asyncDispose]: dispose,
  };
}

type Written = Pick<SnapshotFacts, 'bytes' | 'sha256'>;

async function digestOf(path: string, signal: AbortSignal): Promise<Written> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of readFile(path)) {
    signal.throwIfAborted();
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function write(path: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Written> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      hash.update(chunk);
      bytes += chunk.length;
      await file.writeFile(chunk);
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void, void> {
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
