/**
 * The state of a restore, in an annotation of the HostedControlPlane. All objects of the restore derive from it, so another operator
 * continues where one stopped.
 *
 *     Preparing    a new control plane: its Secrets are created while it is paused
 *     Stopping     controllers, API servers, then etcd are scaled to zero
 *     Restoring    one pod for each member receives the snapshot, makes the data of the member, and verifies it
 *     Activating   one pod for each member puts the restored data in the place of the current data, which is kept
 *     Checking     etcd starts; its content is compared with the backup
 *     Starting     API servers and controllers start
 *     Cleaning     one pod for each member removes the replaced data
 *     Reverting    after a failure: etcd is stopped, and one pod for each member puts the replaced data back
 */

import type { HostedControlPlane } from '../api/index.ts';
import { annotations } from '../api/index.ts';

const phases = [
  'Preparing',
  'Stopping',
  'Restoring',
  'Activating',
  'Checking',
  'Starting',
  'Cleaning',
  'Reverting',
] as const;
export type RestorePhase = (typeof phases)[number];

export interface RestoreState {
  /** Of the ControlPlaneRestore. */
  readonly uid: string;
  readonly phase: RestorePhase;
  /** Whether the control plane was created by the restore. */
  readonly isNew: boolean;
  /** The snapshot is that of a replica: its revisions stay, and the restore ends before API servers start. */
  readonly isReplica?: boolean | undefined;
  /** Number of members of etcd. A change of the spec applies after the restore. */
  readonly members: number;
  readonly snapshot: {
    readonly bytes: number;
    readonly sha256: string;
    readonly revision: number;
    readonly entries: number;
    readonly contentDigest: string;
  };
  /** Added to all revisions, so that none that a client has seen is used again. */
  readonly bumpRevision: number;
  /** Failed pods so far. */
  readonly failures: number;
  /** RFC 3339. Of the current phase. */
  readonly since: string;
  /** Why the restore is reverted. */
  readonly fault?: string | undefined;
}

/** Result of the last restore. */
export interface RestoreResult {
  readonly uid: string;
  /** Absent: it succeeded. */
  readonly fault?: string | undefined;
  /** Lowest revision of the data after the restore. */
  readonly revision: number;
  readonly entries: number;
  readonly contentDigest: string;
}

/** `malformed`: the annotation exists, but not as this release writes it. */
export function restoreStateOf({
  metadata,
}: Pick<HostedControlPlane, 'metadata'>): RestoreState | 'malformed' | undefined {
  const text = metadata.annotations?.[annotations.restore];
  if (text === undefined) return undefined;
  const state = parsed<RestoreState>(text);
  const isState =
    typeof state?.uid === 'string' &&
    phases.includes(state.phase) &&
    typeof state.snapshot?.contentDigest === 'string' &&
    Number.isSafeInteger(state.bumpRevision) &&
    Number.isSafeInteger(state.members);
  return isState ? state : 'malformed';
}

export function restoreResultOf({ metadata }: Pick<HostedControlPlane, 'metadata'>): RestoreResult | undefined {
  const result = parsed<RestoreResult>(metadata.annotations?.[annotations.restored] ?? '');
  return typeof result?.uid === 'string' && Number.isSafeInteger(result.revision) ? result : undefined;
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** `etcd`: phases from EtcdClusterReady wait. `api-servers`: etcd runs, and the later phases wait. */
export type RestoreHold = 'etcd' | 'api-servers';

/** When in doubt, nothing is started. */
export function holdOf(object: Pick<HostedControlPlane, 'metadata'>): RestoreHold | undefined {
  const state = restoreStateOf(object);
  if (state === undefined) return undefined;
  if (state === 'malformed') return 'etcd';
  if (state.phase === 'Starting' || state.phase === 'Cleaning') return undefined;
  return state.phase === 'Checking' ? 'api-servers' : 'etcd';
}

/** Higher than any number of writes between two restores. */
export const revisionMargin = 1_000_000_000;

export interface RevisionInputs {
  /** Of the backup. */
  readonly snapshot: number;
  /** Of the running etcd. Absent: no member responds, or the control plane is new. */
  readonly current?: number | undefined;
  /** After the last restore. */
  readonly lastRestored?: number | undefined;
}

/**
 * Returns the number that is added to the revisions of the snapshot. The result is always higher than every revision that the control plane
 * has had: a second restore of the same backup must not use the revisions of the first again.
 */
export function bumpRevisionFor({ snapshot, current, lastRestored }: RevisionInputs): number {
  const known = current ?? (lastRestored === undefined ? 0 : lastRestored + revisionMargin);
  return Math.max(snapshot, known) + revisionMargin - snapshot;
}
