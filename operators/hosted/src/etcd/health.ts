/** The health of an etcd cluster as the reconciler reports it, from an observation. */

import type { AlarmType, MemberId } from '@hangar/store/etcd-maintenance';
import type { EtcdMemberRole } from '../api/index.ts';
import type { Losses } from './losses.ts';
import { areVotersHealthy, isHealthy, isLeader } from './observation.ts';
import type { EtcdObservation, MemberObservation } from './observation.ts';
import { isQuorumLost } from './recovery.ts';
import type { SpaceReport } from './space/space-record.ts';

export interface EtcdAlarm {
  readonly type: AlarmType;
  /** Name of the pod. */
  readonly member: string;
  /** Absent: the member did not answer. */
  readonly dbSizeBytes?: number | undefined;
  /** Absent: the member did not answer, or does not report its quota. */
  readonly quotaBytes?: number | undefined;
}

export interface MemberHealth {
  /** Name of the pod. */
  readonly name: string;
  readonly id?: MemberId | undefined;
  readonly role: EtcdMemberRole;
  readonly isHealthy: boolean;
  readonly version?: string | undefined;
  /** Version of the format of its data. Absent: etcd before 3.6 does not report it. */
  readonly dataVersion?: string | undefined;
  readonly dbSizeBytes?: number | undefined;
  /** Of its key-value store, while there is no quorum. */
  readonly revision?: number | undefined;
}

export interface EtcdHealth {
  /** Of the largest database of the members that answered. */
  readonly dbSizeBytes: number;
  /** In the order of the members. */
  readonly alarms: readonly EtcdAlarm[];
  /** In the order of their pods. */
  readonly members: readonly MemberHealth[];
  readonly isQuorumLost: boolean;
  /** Description of changes and losses. Absent: all members are healthy and as many as desired. */
  readonly change?: string | undefined;
  /** Absent: not determined. */
  readonly space?: SpaceReport | undefined;
}

export function healthOf(observation: EtcdObservation, losses: Losses): EtcdHealth {
  const { members, alarms } = observation;
  const isLost = isQuorumLost(observation);
  const byId = new Map(members.flatMap((one) => (one.member ? [[one.member.id, one] as const] : [])));
  return {
    dbSizeBytes: Math.max(0, ...members.map(({ status }) => status?.dbSizeBytes ?? 0)),
    alarms: alarms
      .map(({ member, type }) => {
        const one = byId.get(member);
        const { dbSizeBytes, quotaBytes } = one?.status ?? {};
        return { type, member: one?.pod ?? member, dbSizeBytes, quotaBytes };
      })
      .sort((a, b) => (a.member < b.member ? -1 : 1)),
    members: members.map((one) => memberHealth(observation, one, isLost)),
    isQuorumLost: isLost,
    change: changeOf(observation, losses),
  };
}

function memberHealth({ listed }: EtcdObservation, one: MemberObservation, isLost: boolean): MemberHealth {
  const { pod, member, status } = one;
  return {
    name: pod,
    id: member?.id ?? status?.member,
    role: roleOf(one, listed !== undefined),
    isHealthy: isHealthy(one),
    version: status?.version,
    dataVersion: status?.storageVersion,
    dbSizeBytes: status?.dbSizeBytes,
    revision: isLost ? status?.revision : undefined,
  };
}

function roleOf(one: MemberObservation, isListed: boolean): EtcdMemberRole {
  if (!one.member) return isListed ? 'NotMember' : 'Unknown';
  if (one.member.isLearner) return 'Learner';
  return isLeader(one) ? 'Leader' : 'Follower';
}

/** One sentence part for each change, in the order in which they are worked on. */
function changeOf(observation: EtcdObservation, losses: Losses): string | undefined {
  const { membership, listed, desired } = observation;
  const quoted = (pod: string | undefined): string => JSON.stringify(pod);
  const parts: string[] = [];
  if (membership.phase === 'recovering') parts.push(`the cluster is recovered from member ${quoted(membership.pod)}`);
  for (const [pod, { reason }] of losses) parts.push(`member ${quoted(pod)} is lost (${reason}) and is replaced`);
  if (membership.phase === 'joining') parts.push(`member ${quoted(membership.pod)} joins as a learner`);
  const learner = observation.members.find(({ member }) => member?.isLearner && member.name !== '');
  if (learner) parts.push(`member ${quoted(learner.pod)} is a learner and gets its vote when it has caught up`);
  if (listed && listed.length !== desired) parts.push(`${listed.length} of ${desired} members exist`);
  if (listed && parts.length > 0 && !areVotersHealthy(observation)) {
    parts.push('changes wait until the other members are healthy');
  }
  return parts.length > 0 ? parts.join('; ') : undefined;
}
