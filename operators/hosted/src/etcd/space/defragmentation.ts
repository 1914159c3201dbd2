/**
 * Decides which member of etcd is defragmented next. A defragmentation stops the answers of a member for up to several seconds, so it must
 * be worth it, one member is defragmented at a time, and the leader last.
 */

import { freeBytes, freeShare, hasQuorumWithout, mebibyte } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';

/** A large part of a large file is free. */
export const fragmented = { share: 0.5, bytes: 100 * mebibyte } as const;
/** The file is close to the quota, and a defragmentation makes room. */
export const nearQuota = { share: 0.8, freeShare: 0.25 } as const;
/** Of one member, also after a failure. */
export const defragmentationPeriodMs = 3_600_000;

export interface DefragmentationInputs {
  readonly members: readonly MemberSpace[];
  /** Number of voting members. */
  readonly replicas: number;
  /** A roll-out, a change of members, a backup or an alarm is in progress. */
  readonly isBusy: boolean;
  readonly nowMs: number;
  /** Start of the last defragmentation by the name of the member. */
  readonly lastMs: ReadonlyMap<string, number>;
}

/** Returns the name of the next member. Undefined: none, now. */
export function nextDefragmentation(inputs: DefragmentationInputs): string | undefined {
  const { members, replicas, isBusy, nowMs, lastMs } = inputs;
  if (isBusy || members.length !== replicas) return undefined;
  const isDue = ({ name }: MemberSpace): boolean => nowMs - (lastMs.get(name) ?? -Infinity) >= defragmentationPeriodMs;
  return inDefragmentationOrder(members).find(
    (one) => one.isHealthy && isWorthwhile(one, replicas) && isDue(one) && isSafe(one, inputs),
  )?.name;
}

/** The leader is last. Of the others, the one with the most free space is first. */
export const inDefragmentationOrder = (members: readonly MemberSpace[]): MemberSpace[] =>
  members.toSorted((a, b) => Number(a.isLeader) - Number(b.isLeader) || freeBytes(b) - freeBytes(a));

/** The only member of a control plane stops all requests meanwhile: only a full database is worse. */
function isWorthwhile(member: MemberSpace, replicas: number): boolean {
  const free = freeShare(member);
  if (member.dbSizeBytes >= nearQuota.share * member.quotaBytes && free >= nearQuota.freeShare) return true;
  return replicas > 1 && free >= fragmented.share && member.dbSizeBytes >= fragmented.bytes;
}

const isSafe = ({ name }: MemberSpace, { members, replicas }: DefragmentationInputs): boolean =>
  replicas === 1 || hasQuorumWithout(name, members, replicas);
