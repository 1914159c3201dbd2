/** The digest of a range: equal on a source and its replica. */

import { createHash } from 'node:crypto';
import { giveWay, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Revision, Store } from '../contract.ts';
import { ByteWriter } from '../bytes.ts';
import { prefixRange } from '../keys.ts';
import { pagesIn } from '../transfer/transfer.ts';
import type { ReplicaDigest } from './frames.ts';

export interface ReplicaDigestOptions {
  readonly prefix: string;
  /** Absent: the current revision. */
  readonly at?: Revision | undefined;
  /** Leaves a key out. The key is below the prefix. */
  omits?(key: string): boolean;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/** Bytes that are hashed in one slice: about a millisecond. */
const sliceBytes = 512 * 1024;
/** Small entries of several pages are hashed in one slice: a pause takes a millisecond, and requests wait during the switch of a migration. */
const sliceMs = 4;
/** Entries that are read at once: less than 50 ms, even if all of them have the largest size. */
const pageLength = 20;

/**
 * Returns the SHA-256 of the entries in key order: key below the prefix, value, createRevision, modRevision and version; not leases, whose
 * ids differ. Yields to the event loop after each slice. Rejects with `Compacted` when the history window moves past the revision.
 */
export async function replicaDigest(store: Store, options: ReplicaDigestOptions): Promise<ReplicaDigest> {
  const { prefix, at, omits, signal, clock = systemClock } = options;
  const hash = createHash('sha256');
  let entries = 0;
  let read = 0 as Revision;
  const pages = pagesIn(store, prefixRange(prefix), { atRevision: at, pageBytes: sliceBytes, pageLength });
  let [bytes, sinceMs] = [0, clock.monotonicMs()];
  const pause = async (): Promise<void> => {
    await giveWay(clock);
    [bytes, sinceMs] = [0, clock.monotonicMs()];
  };
  for await (const page of pages) {
    read = page.revision;
    for (const { key: fullKey, value, createRevision, modRevision, version } of page.entries) {
      const key = fullKey.slice(prefix.length);
      if (omits?.(key)) continue;
      entries++;
      const fields = new ByteWriter().string(key).uint(createRevision).uint(modRevision).uint(version);
      hash.update(fields.uint(value.length).finish()).update(value);
      bytes += value.length;
      if (bytes >= sliceBytes) await pause();
    }
    if (clock.monotonicMs() - sinceMs >= sliceMs) await pause();
    signal?.throwIfAborted();
  }
  return { revision: read, entries, digest: hash.digest('hex') };
}
