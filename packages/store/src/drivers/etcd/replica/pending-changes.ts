/**
 * Decides how frames are applied to an etcd: a pure function of the frames and of the position key. Every revision between the position and
 * the last frame gets exactly one change: that of a batch, or one without content for a revision of others.
 *
 *     position 100: batch(103) progress(105)      fill 101–102, batch 103, fill 104–105
 *     position 103: batch(103)                    nothing: it was applied before
 *
 * The modRevision of the position key is the revision of etcd, and as far from its createRevision as its version from 1, unless others wrote or
 * a lease expired before its source deleted the keys.
 */

import type { ReplicaFrame } from '../../../replication/frames.ts';
import { EtcdReplicaError } from './errors.ts';

export interface ReplicaState {
  /** Revision of etcd. */
  readonly revision: number;
  /** modRevision of the position key. 0: the etcd was not made from a snapshot of a replica. */
  readonly position: number;
  /** createRevision of the position key: revision of the snapshot. */
  readonly created: number;
  /** Of the position key. */
  readonly version: number;
}

export type Batch = ReplicaFrame & { readonly type: 'batch' };

export type PendingChange =
  /** Revisions without content. */
  | { readonly type: 'fill'; readonly first: number; readonly last: number }
  | { readonly type: 'batch'; readonly frame: Batch };

/** Returns the changes after the position, in order and without a gap. Throws an EtcdReplicaError. */
export function pendingChanges(
  state: ReplicaState,
  frames: readonly ReplicaFrame[],
  gapMax: number,
): readonly PendingChange[] {
  let { position } = state;
  const changes: PendingChange[] = [];
  for (const frame of frames) {
    if (frame.type === 'entry') throw outOfOrder('an entry of a snapshot', position);
    if (position === 0) throw notAReplica();
    if (position >= frame.revision) continue;
    const name = `${frame.type} ${frame.revision}`;
    if (frame.type === 'snapshot' || (frame.after !== undefined && frame.after > position)) {
      throw outOfOrder(name, position);
    }
    checkUnchanged(state);
    const last = frame.type === 'batch' ? frame.revision - 1 : frame.revision;
    if (last - position > gapMax) {
      const message = `etcd is ${last - position} revisions behind ${name}, more than ${gapMax}. Make etcd from a new snapshot`;
      throw new EtcdReplicaError('GapTooLarge', message);
    }
    if (last > position) changes.push({ type: 'fill', first: position + 1, last });
    if (frame.type === 'batch') changes.push({ type: 'batch', frame });
    position = frame.revision;
  }
  return changes;
}

/** Throws `Diverged` if others wrote to etcd since the snapshot. */
export function checkUnchanged({ revision, position, created, version }: ReplicaState): void {
  if (position === 0) throw notAReplica();
  if (revision === position && version === position - created + 1) return;
  const message = `etcd is at revision ${revision}, and the replica at ${position} after ${version - 1} changes since ${created}: others wrote to it`;
  throw new EtcdReplicaError('Diverged', `${message}. Make etcd from a new snapshot`);
}

const notAReplica = (): EtcdReplicaError =>
  new EtcdReplicaError('Diverged', 'this etcd was not made from a snapshot of a replica: make it from a snapshot');

const outOfOrder = (name: string, position: number): EtcdReplicaError =>
  new EtcdReplicaError(
    'OutOfOrder',
    `the replica is at revision ${position}: ${name} does not follow. Read frames after ${position}`,
  );
