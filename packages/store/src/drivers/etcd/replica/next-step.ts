/**
 * Decides how a frame is applied to an etcd: a pure function of the frame and of two revisions.
 *
 * The position is the modRevision of the key that every transaction of a replica writes, so it is equal to the revision of etcd unless others
 * wrote, or a lease expired before its source deleted the keys.
 *
 *     position 100, revision 100, batch(103)      fill up to 102, then commit at 103
 *     position 103, revision 103, batch(103)      skip: it was applied before
 *     position 100, revision 101, batch(103)      diverged
 */

import type { ReplicaFrame } from '../../../replication/frames.ts';
import { EtcdReplicaError } from './errors.ts';

export interface ReplicaState {
  /** 0: the etcd was not made from a snapshot of a replica. */
  readonly position: number;
  readonly revision: number;
}

export type Step =
  | { readonly type: 'skip' }
  /** Transactions without content, in any order, none of which raises the position above `to`. */
  | { readonly type: 'fill'; readonly to: number; readonly count: number }
  | { readonly type: 'commit' };

/** Throws an EtcdReplicaError. */
export function nextStep({ position, revision }: ReplicaState, frame: ReplicaFrame, gapMax: number): Step {
  if (frame.type === 'entry') throw outOfOrder('an entry of a snapshot', position);
  if (position === 0) {
    throw new EtcdReplicaError(
      'Diverged',
      'this etcd was not made from a snapshot of a replica: make it from a snapshot',
    );
  }
  if (position >= frame.revision) return { type: 'skip' };
  const name = `${frame.type} ${frame.revision}`;
  if (frame.type === 'snapshot' || (frame.after !== undefined && frame.after > position)) {
    throw outOfOrder(name, position);
  }
  // The revision at which the frame is complete, or only its own transaction is missing.
  const to = frame.type === 'batch' ? frame.revision - 1 : frame.revision;
  if (revision !== position) {
    const message = `etcd is at revision ${revision}, and the replica at ${position}: others wrote to it. Make etcd from a new snapshot`;
    throw new EtcdReplicaError('Diverged', message);
  }
  if (to - revision > gapMax) {
    const message = `etcd is ${to - revision} revisions behind ${name}, more than ${gapMax}. Make etcd from a new snapshot`;
    throw new EtcdReplicaError('GapTooLarge', message);
  }
  return revision === to ? { type: 'commit' } : { type: 'fill', to, count: to - revision };
}

const outOfOrder = (name: string, position: number): EtcdReplicaError =>
  new EtcdReplicaError(
    'OutOfOrder',
    `the replica is at revision ${position}: ${name} does not follow. Read frames after ${position}`,
  );
