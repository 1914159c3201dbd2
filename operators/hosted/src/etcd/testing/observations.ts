/** Observations of an etcd cluster for tests: a healthy cluster, and changes of it. */

import type { Member, MemberId, MemberStatus } from '@hangar/store/etcd-maintenance';
import type { EtcdAlarm } from '../health.ts';
import { peerUrlOfPod } from '../membership.ts';
import type { Membership } from '../membership.ts';
import type { ClaimState, EtcdObservation, MemberObservation, PodState, SetState } from '../observation.ts';
import type { EtcdSession } from '../session.ts';
import type { SpaceSettings } from '../space/plan-space.ts';

export const plane = { namespace: 'team', name: 'demo' };
export const podName = (ordinal: number): string => `demo-etcd-${ordinal}`;
export const memberId = (ordinal: number): MemberId => (0xa0 + ordinal).toString(16) as MemberId;

export const readyPod = (ordinal: number): PodState => ({
  uid: `pod-${ordinal}`,
  isReady: true,
  isCrashing: false,
  isPending: false,
  isVolumeUnreachable: false,
  isUpToDate: true,
});

export const boundClaim = (ordinal: number): ClaimState => ({
  uid: `claim-${ordinal}`,
  isLost: false,
  isTerminating: false,
});

export const listedMember = (ordinal: number, changes: Partial<Member> = {}): Member => ({
  id: memberId(ordinal),
  name: podName(ordinal),
  peerUrls: [peerUrlOfPod(plane, podName(ordinal))],
  clientUrls: [`https://${podName(ordinal)}:2379`],
  isLearner: false,
  ...changes,
});

export const statusOf = (ordinal: number, changes: Partial<MemberStatus> = {}): MemberStatus =>
  ({
    member: memberId(ordinal),
    version: '3.6.8',
    dbSizeBytes: 2 ** 20,
    dbSizeInUseBytes: 2 ** 19,
    leader: memberId(0),
    isLearner: false,
    revision: 100,
    raftTerm: 2,
    raftIndex: 200,
    appliedIndex: 200,
    errors: [],
    ...changes,
  }) as MemberStatus;

/** Volumes of 8Gi that may grow. */
export const spaceSettings: SpaceSettings = {
  quotaBytes: 3_840 * 2 ** 20,
  hasDerivedQuota: true,
  sizeBytes: 8 * 2 ** 30,
  capacityBytes: 8 * 2 ** 30,
  sizeMaxBytes: 20 * 2 ** 30,
};

/** Of a member without faults. */
export const healthyMember = (ordinal: number): MemberObservation => ({
  pod: podName(ordinal),
  ordinal,
  peerUrl: peerUrlOfPod(plane, podName(ordinal)),
  member: listedMember(ordinal),
  status: statusOf(ordinal),
  podState: readyPod(ordinal),
  claim: boundClaim(ordinal),
});

/** Of a pod that exists or is wanted, and that is not a member. */
export const notMember = (ordinal: number, parts: Pick<MemberObservation, 'podState' | 'claim'> = {}) => ({
  pod: podName(ordinal),
  ordinal,
  peerUrl: peerUrlOfPod(plane, podName(ordinal)),
  ...parts,
});

export interface ObservationParts {
  readonly desired?: number;
  readonly membership?: Partial<Membership>;
  readonly set?: Partial<SetState>;
  readonly members?: readonly MemberObservation[];
  readonly alarms?: EtcdObservation['alarms'];
  readonly recoverFrom?: string;
  /** False: no list of members. */
  readonly hasQuorum?: boolean;
  readonly isDetailed?: boolean;
}

/** By default, of three healthy members. */
export function observationOf(parts: ObservationParts = {}): EtcdObservation {
  const { desired = 3, alarms = [], hasQuorum = true, isDetailed = true, recoverFrom } = parts;
  const members = parts.members ?? Array.from({ length: desired }, (_, ordinal) => healthyMember(ordinal));
  const membership: Membership = {
    phase: 'closed',
    replicas: members.length,
    firstOrdinal: 0,
    recoveries: 0,
    ...parts.membership,
  };
  const { replicas, firstOrdinal } = membership;
  const ready = members.filter(({ podState }) => podState?.isReady).length;
  const areCurrent = members.every(({ podState }) => !podState || podState.isUpToDate);
  const isComplete = ready === replicas && areCurrent;
  return {
    desired,
    membership,
    set: { replicas, firstOrdinal, ready, isObserved: true, isComplete, ...parts.set },
    isDetailed,
    listed: hasQuorum ? members.flatMap(({ member }) => (member ? [member] : [])) : undefined,
    alarms,
    members: hasQuorum ? members : members.map((one) => ({ ...one, member: undefined })),
    recoverFrom,
  };
}

/** A healthy cluster with these sizes and alarms. */
export interface ObservedFigures {
  readonly dbSizeBytes: number;
  readonly alarms: readonly EtcdAlarm[];
}

export function observationWith({ dbSizeBytes, alarms }: ObservedFigures): EtcdObservation {
  const members = [0, 1, 2].map((ordinal) => {
    const { dbSizeBytes: size = dbSizeBytes, quotaBytes } =
      alarms.find(({ member }) => member === podName(ordinal)) ?? {};
    return {
      ...healthyMember(ordinal),
      status: statusOf(ordinal, { dbSizeBytes: size, dbSizeInUseBytes: size, quotaBytes }),
    };
  });
  const raised = alarms.map(({ member, type }) => ({ type, member: memberId(Number(member.at(-1))) }));
  return observationOf({ members, alarms: raised });
}

/** Sessions that observe these figures and run no actions. Undefined: the members cannot be reached. */
export const sessionDouble = (figures: () => ObservedFigures | undefined) => (): EtcdSession => ({
  observe: () => {
    const known = figures();
    return Promise.resolve(known && observationWith(known));
  },
  run: () => Promise.resolve(true),
  close: () => {},
});
