/**
 * Decides how a control plane whose etcd refuses writes, because a database exceeds its quota, returns to work. Old revisions are removed
 * first, then members are defragmented one at a time, and the alarm is disarmed only if there is room again.
 */

import { inMebibytes } from '../alarms.ts';
import { inDefragmentationOrder } from './defragmentation.ts';
import { freeShare, hasQuorumWithout } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';

/**
 * Numbers of newest revisions that a compaction keeps. A smaller one is used only if the data does not fit otherwise: clients that watch or
 * read an older revision must list again.
 */
export const keptRevisions = [1_000, 100, 0] as const;
const backOffMs = 30_000;
const backOffMaxMs = 600_000;
/** A database below this part of its quota has room. */
const roomShare = 0.9;
/** A member with less free space stays as it is. */
const freeShareMin = 0.05;

/** Returns the revision to compact. Undefined: there is nothing to compact. */
export const compactionRevision = (newest: number, kept: number): number | undefined =>
  newest - kept > 1 ? newest - kept : undefined;

/** Whether the data has room after a defragmentation. */
export const canFit = (members: readonly MemberSpace[]): boolean =>
  members.every(({ dbSizeInUseBytes, quotaBytes }) => dbSizeInUseBytes < roomShare * quotaBytes);

/** Returns the delay before the next attempt. */
export const recoveryDelayMs = (attempt: number): number =>
  Math.min(backOffMaxMs, backOffMs * 2 ** Math.min(attempt, 10));

/** Returns the next member to defragment. Undefined: none has free space, or the others have no quorum. */
export function nextRecoveryMember(
  members: readonly MemberSpace[],
  replicas: number,
  done: ReadonlySet<string>,
): string | undefined {
  return inDefragmentationOrder(members).find(
    (one) =>
      !done.has(one.name) &&
      one.isHealthy &&
      freeShare(one) >= freeShareMin &&
      (replicas === 1 || hasQuorumWithout(one.name, members, replicas)),
  )?.name;
}

/** Whether the alarm can be disarmed. The size of a member that does not answer is not known. */
export const hasRoom = (members: readonly MemberSpace[], replicas: number): boolean =>
  members.length === replicas && members.every(({ dbSizeBytes, quotaBytes }) => dbSizeBytes < roomShare * quotaBytes);

/** Describes why the alarm stays, for a condition. */
export function stillFull(members: readonly MemberSpace[], replicas: number): string {
  if (members.length < replicas) return `${replicas - members.length} of ${replicas} members do not answer`;
  const [largest] = members.toSorted((a, b) => b.dbSizeInUseBytes - a.dbSizeInUseBytes);
  const { name, dbSizeInUseBytes, quotaBytes } = largest!;
  const used = `${inMebibytes(dbSizeInUseBytes)} of ${inMebibytes(quotaBytes)} are in use after compaction`;
  return `member ${JSON.stringify(name)}: ${used}`;
}
