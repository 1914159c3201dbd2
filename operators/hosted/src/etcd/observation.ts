/**
 * One observation of the etcd cluster of a control plane, as plain data. `plan.ts` decides from it.
 *
 * A member is a row of the member list of etcd. It belongs to the pod whose peer URL it has. Members of other peer URLs, which users added,
 * count for the quorum and are never changed.
 */

import type { Alarm, Member, MemberStatus } from '@hangar/store/etcd-maintenance';
import type { DataLoss } from './data-loss.ts';
import type { Membership } from './membership.ts';

export interface PodState {
  readonly uid: string;
  readonly isReady: boolean;
  /** Milliseconds since the end of its grace period. Absent: it is not being deleted. */
  readonly overdueMs?: number | undefined;
  /** It waits between two starts after crashes. */
  readonly isCrashing: boolean;
  /** Its containers have not started yet. */
  readonly isPending: boolean;
  /** Of the last crash. */
  readonly dataLoss?: DataLoss | undefined;
  /** It cannot be scheduled because of its volume, for example because the node of the volume is gone. */
  readonly isVolumeUnreachable: boolean;
  /** It has the current template of the StatefulSet. */
  readonly isUpToDate: boolean;
}

export interface ClaimState {
  readonly uid: string;
  readonly isLost: boolean;
  readonly isTerminating: boolean;
}

export interface MemberObservation {
  readonly pod: string;
  readonly ordinal: number;
  readonly peerUrl: string;
  /** Absent: not in the member list. */
  readonly member?: Member | undefined;
  /** Absent: it does not answer. */
  readonly status?: MemberStatus | undefined;
  /** Absent: the pod does not exist, or the cluster is healthy and pods were not read. */
  readonly podState?: PodState | undefined;
  /** Absent: the claim does not exist, or the cluster is healthy and claims were not read. */
  readonly claim?: ClaimState | undefined;
}

/** The state of the StatefulSet. */
export interface SetState {
  readonly replicas: number;
  readonly firstOrdinal: number;
  readonly ready: number;
  /** The controller has seen the current spec. */
  readonly isObserved: boolean;
  /** All pods are ready and have the current template. */
  readonly isComplete: boolean;
}

export interface EtcdObservation {
  /** Number of members in the spec. */
  readonly desired: number;
  readonly membership: Membership;
  readonly set: SetState;
  /** Pods and claims were read. They are not if the cluster is healthy. */
  readonly isDetailed: boolean;
  /** The member list that a quorum agreed on. Absent: there is no quorum, or no member can be reached. */
  readonly listed?: readonly Member[] | undefined;
  /** Of all members. Empty without a quorum. */
  readonly alarms: readonly Alarm[];
  /** By ordinal, for all pods that exist or are wanted, and for all members of pods. */
  readonly members: readonly MemberObservation[];
  /** The pod that a user requested to recover from. */
  readonly recoverFrom?: string | undefined;
}

/** Answers, has a leader, and is the member that the list has for the pod. */
export const isHealthy = ({ member, status }: MemberObservation): boolean =>
  member !== undefined && status !== undefined && status.leader !== undefined && status.member === member.id;

export const isVoter = ({ member }: MemberObservation): boolean => member !== undefined && !member.isLearner;

export const isLeader = ({ member, status }: MemberObservation): boolean =>
  status !== undefined && member !== undefined && status.leader === member.id;

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

export const voters = ({ listed = [] }: EtcdObservation): readonly Member[] =>
  listed.filter(({ isLearner }) => !isLearner);

export const healthyVoters = ({ members }: EtcdObservation): readonly MemberObservation[] =>
  members.filter((one) => isVoter(one) && isHealthy(one));

/** The other voters are a healthy quorum of the present cluster: the member can stop for a while. */
export function canStop(observation: EtcdObservation, pod: string): boolean {
  const others = healthyVoters(observation).filter((one) => one.pod !== pod).length;
  return observation.listed !== undefined && others >= quorumOf(voters(observation).length);
}

/** The other voters are healthy enough to agree on the removal, and are a healthy quorum of the cluster after it. */
export function canRemove(observation: EtcdObservation, pod: string): boolean {
  const one = observation.members.find((member) => member.pod === pod);
  if (!one?.member || observation.listed === undefined) return false;
  if (one.member.isLearner) return healthyVoters(observation).length >= quorumOf(voters(observation).length);
  const before = voters(observation).length;
  const healthy = healthyVoters(observation);
  const others = healthy.filter((member) => member.pod !== pod).length;
  return healthy.length >= quorumOf(before) && before > 1 && others >= quorumOf(before - 1);
}

/** Every voter is healthy, so one more change is allowed. */
export const areVotersHealthy = (observation: EtcdObservation): boolean =>
  observation.listed !== undefined && healthyVoters(observation).length === voters(observation).length;

/** All members are healthy voters, as many as desired, and nothing changes: optional disruptions such as a defragmentation may begin. */
export const isCalm = (observation: EtcdObservation): boolean =>
  observation.listed?.length === observation.desired &&
  observation.membership.phase === 'closed' &&
  observation.set.isComplete &&
  observation.set.replicas === observation.membership.replicas &&
  areVotersHealthy(observation) &&
  healthyVoters(observation).length === observation.desired;
