/** The position of a replica in the stream of its source, as stored under a key of the replica's store. */

import type { Revision } from '../contract.ts';
import { StoreError } from '../errors.ts';
import { compareKeys } from '../keys.ts';
import { failed } from '../transfer/framing.ts';
import type { ReplicaFrame, SnapshotPlace } from './frames.ts';

export interface ReplicaPosition {
  /** The replica has everything up to this revision; 0: it is not complete. */
  readonly revision: Revision;
  /** A snapshot that is being received. */
  readonly snapshot?: ReceivedSnapshot | undefined;
}

export interface ReceivedSnapshot {
  readonly revision: Revision;
  /** Number of entries received. */
  readonly entries: number;
  /** Key of the last entry; empty: none. */
  readonly lastKey: string;
}

export const startPosition: ReplicaPosition = { revision: 0 as Revision };

export function encodePosition(position: ReplicaPosition): Uint8Array {
  return Buffer.from(JSON.stringify(position));
}

/** Throws `StorageDamaged`. */
export function decodePosition(value: Uint8Array): ReplicaPosition {
  try {
    const { revision, snapshot } = JSON.parse(Buffer.from(value).toString()) as ReplicaPosition;
    if (Number.isSafeInteger(revision)) return snapshot ? { revision, snapshot } : { revision };
  } catch {
    // Reported below.
  }
  throw new StoreError('StorageDamaged', 'the position of a replica cannot be read: start to receive again');
}

/** Result of `advance`: the position after the frame; undefined: the replica has the frame already. */
export type Advance = ReplicaPosition | undefined;

/**
 * Decides what a frame is to a replica at this position. Throws `ImportFailed` if frames before it are missing, or if it belongs to a
 * snapshot that a newer one has replaced.
 */
export function advance(position: ReplicaPosition, frame: ReplicaFrame): Advance {
  switch (frame.type) {
    case 'entry':
      return afterEntry(position, frame.place, frame.entry.key);
    case 'snapshot':
      return afterSnapshot(position, frame);
    case 'batch':
    case 'progress':
      if (frame.revision <= position.revision) return undefined;
      if (position.revision === 0) throw failed(`a change at revision ${frame.revision} came before the snapshot`);
      if (frame.after === undefined || frame.after > position.revision)
        throw failed(`changes between revisions ${position.revision} and ${frame.revision} are missing`);
      return { revision: frame.revision };
  }
}

function afterEntry(position: ReplicaPosition, place: SnapshotPlace | undefined, key: string): Advance {
  if (!place) throw failed('an entry has no place in its snapshot');
  const { snapshot: revision, index } = place;
  if (revision <= position.revision) return undefined;
  const { entries, lastKey } = receivedOf(position, revision);
  if (index < entries) return undefined;
  if (index > entries) throw failed(`entries ${entries} to ${index - 1} of the snapshot ${revision} are missing`);
  if (lastKey !== '' && compareKeys(key, lastKey) <= 0)
    throw failed(`${JSON.stringify(key)} is not after ${JSON.stringify(lastKey)}`);
  // Until the snapshot is complete, the replica has entries of several revisions.
  return { revision: 0 as Revision, snapshot: { revision, entries: entries + 1, lastKey: key } };
}

function afterSnapshot(position: ReplicaPosition, frame: ReplicaFrame & { type: 'snapshot' }): Advance {
  const { revision } = frame;
  if (revision <= position.revision) return undefined;
  const { entries } = receivedOf(position, revision);
  if (frame.entries !== entries) throw failed(`the snapshot ${revision} has ${frame.entries} entries, not ${entries}`);
  return { revision };
}

/** Returns the part of this snapshot that was received: nothing if it replaces an older one. */
export function receivedOf({ snapshot }: ReplicaPosition, revision: Revision): ReceivedSnapshot {
  if (snapshot && snapshot.revision > revision)
    throw failed(`the snapshot ${revision} is older than the snapshot ${snapshot.revision} that is being received`);
  return snapshot?.revision === revision ? snapshot : { revision, entries: 0, lastKey: '' };
}
