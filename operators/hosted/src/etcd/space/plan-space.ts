/**
 * Decides on the next action about the space of an etcd cluster: recovery of a full database, then growth of volumes, then
 * defragmentation. All of them wait until the cluster is calm: every member is a healthy voter, and no roll-out or change is in progress.
 */

import { isCalm, isHealthy, isLeader, isVoter } from '../observation.ts';
import type { EtcdObservation } from '../observation.ts';
import { nextDefragmentation } from './defragmentation.ts';
import { nextVolumeSize } from './growth.ts';
import type { MemberSpace } from './member-space.ts';

/** Limits of the spec and of the volumes. */
export interface SpaceSettings {
  /** For members that do not report their quota. */
  readonly quotaBytes: number;
  /** Whether the quota derives from the size of the volumes. */
  readonly hasDerivedQuota: boolean;
  /** Requested size of the volumes. */
  readonly sizeBytes: number;
  /** Smallest capacity of the volumes. */
  readonly capacityBytes: number;
  /** Absent: volumes do not grow by themselves. */
  readonly sizeMaxBytes?: number | undefined;
}

/** Results of earlier rounds. */
export interface SpaceHistory {
  /** Start of the last defragmentation by pod, in the time of the clock. */
  readonly defragmentedMs: ReadonlyMap<string, number>;
  /** Failed attempts to recover since the alarm. */
  readonly attempts: number;
  /** Time of the next attempt. */
  readonly nextAttemptMs: number;
  /** A backup reads from a member. */
  readonly isHeld: boolean;
}

export type SpaceAction =
  /** Removes old revisions, defragments all members, and disarms the alarm NOSPACE. */
  | { readonly type: 'recoverSpace'; readonly attempt: number }
  /** Requests larger volumes from the reconciler. */
  | { readonly type: 'growVolumes'; readonly sizeBytes: number }
  | { readonly type: 'defragment'; readonly pod: string };

export function planSpace(
  observation: EtcdObservation,
  settings: SpaceSettings,
  history: SpaceHistory,
  nowMs: number,
): SpaceAction | undefined {
  if (!isCalm(observation)) return undefined;
  const members = spaceOf(observation, settings);
  const growth = settings.sizeMaxBytes === undefined ? undefined : growthOf(members, settings, settings.sizeMaxBytes);
  if (growth) return growth;
  if (history.isHeld) return undefined;
  const { alarms, desired: replicas } = observation;
  if (alarms.some(({ type }) => type === 'NOSPACE')) {
    return nowMs < history.nextAttemptMs ? undefined : { type: 'recoverSpace', attempt: history.attempts };
  }
  const { defragmentedMs: lastMs } = history;
  const pod = nextDefragmentation({ members, replicas, isBusy: alarms.length > 0, nowMs, lastMs });
  return pod === undefined ? undefined : { type: 'defragment', pod };
}

/** The members that answer. */
export const spaceOf = (
  { members }: Pick<EtcdObservation, 'members'>,
  { quotaBytes }: Pick<SpaceSettings, 'quotaBytes'>,
): MemberSpace[] =>
  members.flatMap((one) => {
    const { pod: name, status } = one;
    if (!status) return [];
    const { dbSizeBytes, dbSizeInUseBytes } = status;
    return [
      {
        name,
        isHealthy: isHealthy(one) && isVoter(one),
        isLeader: isLeader(one),
        dbSizeBytes,
        dbSizeInUseBytes,
        quotaBytes: status.quotaBytes ?? quotaBytes,
      },
    ];
  });

function growthOf(
  members: readonly MemberSpace[],
  settings: SpaceSettings,
  sizeMaxBytes: number,
): SpaceAction | undefined {
  const decision = nextVolumeSize({ ...settings, members, sizeMaxBytes });
  return decision.type === 'grow' ? { type: 'growVolumes', sizeBytes: decision.sizeBytes } : undefined;
}
