/**
 * Decides on the next single action for the etcd cluster of a control plane. A pure function: the same observation gives the same action, so
 * an operator that restarts continues where the previous one stopped.
 *
 * A member is replaced or added in these steps, each of them a state that the next observation recognizes:
 *
 *     removeMember → addLearner → openMembership → emptyVolume → (the pod joins) → closeMembership → promote
 *
 * No action makes the number of healthy voters smaller than a quorum: `plan.test.ts` checks it for random observations.
 */

import type { MemberId } from '@hangar/store/etcd-maintenance';
import type { Losses, LossReason } from './losses.ts';
import type { Membership } from './membership.ts';
import { closedMembership } from './membership.ts';
import {
  areVotersHealthy,
  canRemove,
  canStop,
  healthyVoters,
  isHealthy,
  isLeader,
  isVoter,
  quorumOf,
  voters,
} from './observation.ts';
import type { EtcdObservation, MemberObservation, PodState } from './observation.ts';
import { planRecovery } from './recovery.ts';
import type { SpaceAction } from './space/plan-space.ts';

export type Action =
  /** Changes the ConfigMap. */
  | { readonly type: 'setMembership'; readonly membership: Membership; readonly why: string }
  /** Changes the ConfigMap so that a pod ends, and deletes its claim. */
  | {
      readonly type: 'releasePod';
      readonly membership: Membership;
      readonly pod: string;
      readonly claim?: string | undefined;
    }
  | {
      readonly type: 'removeMember';
      readonly pod: string;
      readonly member: MemberId;
      readonly why: LossReason | 'ScaleDown';
    }
  | { readonly type: 'addLearner'; readonly pod: string; readonly peerUrl: string }
  | { readonly type: 'promote'; readonly pod: string; readonly member: MemberId }
  | { readonly type: 'moveLeader'; readonly from: string; readonly to: MemberId }
  /** Deletes a claim and its pod. Both are created again, empty. */
  | { readonly type: 'emptyVolume'; readonly pod: string; readonly claim: string; readonly podUid?: string | undefined }
  /** Deletes a pod. The StatefulSet creates it again. `isForced`: its node does not answer. */
  | { readonly type: 'restartPod'; readonly pod: string; readonly podUid: string; readonly isForced: boolean }
  /** Deletes the claim of a removed member. */
  | { readonly type: 'deleteClaim'; readonly pod: string; readonly claim: string }
  /** Removes the request of a user that is complete or does not apply. */
  | { readonly type: 'clearRequest' }
  | SpaceAction;

/** Decides on the action of one concern. Undefined: it has nothing to do. `wait`: no later concern may act. */
export type Planner = (observation: EtcdObservation, losses: Losses) => Action | 'wait' | undefined;

/** Concerns in their order: the first one that has something to do decides. Optional disruptions come last, and only in a calm cluster. */
const planners: readonly Planner[] = [
  awaitSet,
  planRecovery,
  planRollOutOfBrokenPods,
  awaitQuorum,
  planJoin,
  planLearners,
  planReplacement,
  planScaleUp,
  planScaleDown,
  planRollOut,
];

export function planNext(observation: EtcdObservation, losses: Losses): Action | undefined {
  for (const planner of planners) {
    const decision = planner(observation, losses);
    if (decision === 'wait') return undefined;
    if (decision) return decision;
  }
  return undefined;
}

/** The StatefulSet does not have the pods of the membership yet, or its status is of an older spec. */
function awaitSet({ set, membership }: EtcdObservation): 'wait' | undefined {
  const isSame = set.replicas === membership.replicas && set.firstOrdinal === membership.firstOrdinal;
  // The reconciler ends the bootstrap when all members are ready for the first time.
  return set.isObserved && isSame && membership.phase !== 'bootstrap' ? undefined : 'wait';
}

/** Members that only the operator cannot reach are still updated: their readiness says that they have a quorum. */
function awaitQuorum(observation: EtcdObservation): 'wait' | undefined {
  return observation.listed === undefined && !arePodsReady(observation) ? 'wait' : undefined;
}

const arePodsReady = ({ members, membership: { firstOrdinal, replicas } }: EtcdObservation): boolean =>
  members
    .filter(({ ordinal }) => ordinal >= firstOrdinal && ordinal < firstOrdinal + replicas)
    .every(({ podState }) => podState?.isReady && podState.overdueMs === undefined);

/** Waits for the pod that joins: nothing else changes meanwhile. */
function planJoin(observation: EtcdObservation): Action | 'wait' | undefined {
  const { membership, members, listed } = observation;
  if (membership.phase !== 'joining') return undefined;
  if (listed === undefined) return 'wait';
  const close = (why: string): Action => ({ type: 'setMembership', membership: closedMembership(membership), why });
  const one = members.find(({ pod }) => pod === membership.pod);
  if (!one?.member) return close('the learner was removed');
  // Before the promotion: a member with a vote never may start with an empty data directory.
  if (one.member.name !== '') return close('the learner has started');
  const urls = listed.flatMap(({ peerUrls }) => peerUrls);
  if (!isSameSet(urls, membership.peerUrls ?? [])) return open(observation, one, 'the list of members changed');
  const { claim, podState } = one;
  const isOld = claim !== undefined && claim.uid === membership.replaces;
  if (isOld && !claim.isTerminating) {
    return { type: 'emptyVolume', pod: one.pod, claim: claim.uid, podUid: podState?.uid };
  }
  if (!podState) return 'wait';
  if (podState.overdueMs !== undefined) return podState.overdueMs > 0 ? restart(one, true) : 'wait';
  if (isOld) return restart(one, false);
  // It started with the previous settings.
  return podState.isCrashing && podState.dataLoss !== undefined ? restart(one, false) : 'wait';
}

function planLearners(observation: EtcdObservation, losses: Losses): Action | 'wait' | undefined {
  const one = observation.members.find(({ member }) => member?.isLearner);
  if (!one) return undefined;
  const { pod, member } = one;
  const lost = losses.get(pod);
  const isUnwanted = one.ordinal >= observation.desired;
  if ((lost || isUnwanted) && canRemove(observation, pod)) {
    return { type: 'removeMember', pod, member: member!.id, why: lost?.reason ?? 'ScaleDown' };
  }
  if (member!.name === '') return open(observation, one, 'a learner was added');
  // A lost voter is removed before the promotion, which needs all voters.
  const isVoterLost = observation.members.some((voter) => isVoter(voter) && losses.has(voter.pod));
  if (!isHealthy(one) || !areVotersHealthy(observation)) return isVoterLost ? undefined : 'wait';
  return { type: 'promote', pod, member: member!.id };
}

function planReplacement(observation: EtcdObservation, losses: Losses): Action | 'wait' | undefined {
  const lost = observation.members.filter((one) => isVoter(one) && losses.has(one.pod));
  const one = lost.find(({ pod }) => canRemove(observation, pod));
  if (!one) return lost.length > 0 ? 'wait' : undefined;
  if (isLeader(one)) return moveLeader(observation, one) ?? 'wait';
  return { type: 'removeMember', pod: one.pod, member: one.member!.id, why: losses.get(one.pod)!.reason };
}

/** Adds the first missing member beside the pods that exist, so that their ordinals stay contiguous. */
function planScaleUp(observation: EtcdObservation): Action | 'wait' | undefined {
  const { members, membership, desired, listed } = observation;
  const [first, last] = [membership.firstOrdinal, membership.firstOrdinal + membership.replicas - 1];
  const missing = members.filter(({ member, ordinal }) => !member && (ordinal < desired || ordinal < first));
  if (missing.length === 0 || listed === undefined) return undefined;
  if (!areVotersHealthy(observation)) return 'wait';
  const one = missing.find(({ ordinal }) => ordinal >= first - 1 && ordinal <= last + 1);
  if (!one) return 'wait';
  const isOutside = one.ordinal < first || one.ordinal > last;
  // Of an earlier member. A pod must not start with its data.
  if (isOutside && one.podState) return 'wait';
  if (isOutside && one.claim) {
    return one.claim.isTerminating ? 'wait' : { type: 'deleteClaim', pod: one.pod, claim: one.claim.uid };
  }
  return { type: 'addLearner', pod: one.pod, peerUrl: one.peerUrl };
}

function planScaleDown(observation: EtcdObservation): Action | 'wait' | undefined {
  const { members, membership, desired, listed } = observation;
  if (listed === undefined) return undefined;
  const surplus = members.filter(({ ordinal, member }) => ordinal >= desired && member);
  const one = surplus.at(-1);
  if (one) {
    const others = healthyVoters(observation).filter(({ pod }) => pod !== one.pod);
    if (others.length < voters(observation).length - 1 || !canRemove(observation, one.pod)) return 'wait';
    if (isLeader(one)) return moveLeader(observation, one) ?? 'wait';
    return { type: 'removeMember', pod: one.pod, member: one.member!.id, why: 'ScaleDown' };
  }
  const last = membership.firstOrdinal + membership.replicas - 1;
  if (last < desired) return undefined;
  const { pod, claim } = members.find(({ ordinal }) => ordinal === last)!;
  const smaller = { ...closedMembership(membership), replicas: membership.replicas - 1 };
  return { type: 'releasePod', membership: smaller, pod, claim: claim?.uid };
}

/** A pod that does not work can be updated at any time, for example when the new template repairs it. */
function planRollOutOfBrokenPods({ members, membership }: EtcdObservation): Action | undefined {
  if (membership.phase !== 'closed') return undefined;
  const one = members.find(({ podState, status }) => podState && !podState.isUpToDate && !status && isBroken(podState));
  return one && restart(one, false);
}

/** Restarts pods with an older template one at a time, the leader last and after it has handed over. */
function planRollOut(observation: EtcdObservation): Action | 'wait' | undefined {
  const { members, isDetailed, listed } = observation;
  const outdated = members.filter(({ podState }) => podState && !podState.isUpToDate);
  if (!isDetailed || outdated.length === 0) return undefined;
  if (!arePodsReady(observation)) return 'wait';
  const followers = outdated.filter((one) => !isLeader(one));
  const one = followers.at(-1) ?? outdated.at(-1)!;
  if (listed === undefined) return restart(one, false);
  // A single member has no other one: its control plane is unavailable while it restarts.
  if (voters(observation).length > 1) {
    if (!canStop(observation, one.pod)) return 'wait';
    if (isLeader(one)) return moveLeader(observation, one) ?? restart(one, false);
  }
  return restart(one, false);
}

function open(observation: EtcdObservation, one: MemberObservation, why: string): Action {
  const { membership, listed = [] } = observation;
  const first = Math.min(membership.firstOrdinal, one.ordinal);
  const last = Math.max(membership.firstOrdinal + membership.replicas - 1, one.ordinal);
  return {
    type: 'setMembership',
    why,
    membership: {
      ...closedMembership(membership),
      phase: 'joining',
      firstOrdinal: first,
      replicas: last - first + 1,
      pod: one.pod,
      replaces: membership.phase === 'joining' ? membership.replaces : one.claim?.uid,
      peerUrls: listed.flatMap(({ peerUrls }) => peerUrls),
    },
  };
}

/** It has not been ready for a while. One that is only not ready can be a healthy member without a leader for a moment. */
const isBroken = ({ isReady, isCrashing, isPending, overdueMs }: PodState): boolean =>
  !isReady && (isCrashing || isPending) && overdueMs === undefined;

const restart = ({ pod, podState }: MemberObservation, isForced: boolean): Action => ({
  type: 'restartPod',
  pod,
  podUid: podState!.uid,
  isForced,
});

/** To the most advanced of the other healthy voters, of those that stay if possible. */
function moveLeader(observation: EtcdObservation, leader: MemberObservation): Action | undefined {
  const others = healthyVoters(observation).filter(({ pod }) => pod !== leader.pod);
  if (others.length + 1 < quorumOf(voters(observation).length)) return undefined;
  const staying = others.filter(({ ordinal }) => ordinal < observation.desired);
  const [target] = (staying.length > 0 ? staying : others).toSorted(
    (a, b) => b.status!.appliedIndex - a.status!.appliedIndex || a.ordinal - b.ordinal,
  );
  return target && { type: 'moveLeader', from: leader.pod, to: target.member!.id };
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && new Set([...a, ...b]).size === a.length;
