/**
 * Quorum loss, and the recovery from one surviving member that a user requests. The survivor becomes the only member of the cluster
 * (`--force-new-cluster`); all other pods stop first, and join again later with empty volumes, so two clusters never exist.
 */

import type { Action } from './plan.ts';
import { closedMembership } from './membership.ts';
import { isHealthy } from './observation.ts';
import type { EtcdObservation, MemberObservation } from './observation.ts';

/**
 * No quorum: at least one pod is not ready, no member that answers has a leader, and no list could be read. A cluster that the operator
 * cannot reach, but whose pods are all ready, has a quorum.
 */
export const isQuorumLost = ({ listed, members, set, isDetailed }: EtcdObservation): boolean =>
  listed === undefined &&
  isDetailed &&
  set.ready <= set.replicas / 2 &&
  members.every(({ status }) => status?.leader === undefined);

export function planRecovery(observation: EtcdObservation): Action | 'wait' | undefined {
  const { recoverFrom, membership, members, listed } = observation;
  if (membership.phase === 'recovering') return continueRecovery(observation);
  if (recoverFrom === undefined) return undefined;
  if (listed !== undefined) return { type: 'clearRequest' };
  const survivor = members.find(({ pod }) => pod === recoverFrom);
  if (!survivor?.podState || !isQuorumLost(observation)) return 'wait';
  return {
    type: 'setMembership',
    why: 'a user requested the recovery from one member',
    membership: {
      ...closedMembership(membership),
      phase: 'recovering',
      replicas: 1,
      firstOrdinal: survivor.ordinal,
      pod: survivor.pod,
      replaces: survivor.podState.uid,
      recoveries: membership.recoveries + 1,
    },
  };
}

/** The other pods must be gone before the survivor starts as a new cluster. */
function continueRecovery({ membership, members, listed }: EtcdObservation): Action | 'wait' {
  const survivor = members.find(({ pod }) => pod === membership.pod);
  if (members.some((one) => one !== survivor && one.podState)) return forceStop(members, survivor) ?? 'wait';
  const podState = survivor?.podState;
  if (!podState) return 'wait';
  if (podState.uid === membership.replaces) {
    const isStopping = podState.overdueMs !== undefined && podState.overdueMs <= 0;
    const isForced = podState.overdueMs !== undefined;
    return isStopping ? 'wait' : { type: 'restartPod', pod: survivor.pod, podUid: podState.uid, isForced };
  }
  const isAlone = listed?.length === 1 && isHealthy(survivor);
  if (!isAlone) return 'wait';
  return { type: 'setMembership', membership: closedMembership(membership), why: 'the survivor is the only member' };
}

/** Pods on nodes that do not answer: their processes cannot have a quorum. */
function forceStop(members: readonly MemberObservation[], survivor: MemberObservation | undefined): Action | undefined {
  const one = members.find(({ podState }) => (podState?.overdueMs ?? 0) > 0 && podState !== survivor?.podState);
  return one && { type: 'restartPod', pod: one.pod, podUid: one.podState!.uid, isForced: true };
}
