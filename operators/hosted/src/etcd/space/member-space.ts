/** The space of one etcd member, as plain data. Input of all decisions about space. */

export const mebibyte = 2 ** 20;
export const gibibyte = 2 ** 30;

export interface MemberSpace {
  /** Name of the pod. */
  readonly name: string;
  /** Whether the member answers, votes, knows the leader and follows it closely. */
  readonly isHealthy: boolean;
  readonly isLeader: boolean;
  /** Size of the database file. */
  readonly dbSizeBytes: number;
  /** Part of the file that a defragmentation keeps. */
  readonly dbSizeInUseBytes: number;
  /** Size at which etcd refuses writes. */
  readonly quotaBytes: number;
}

export const freeBytes = ({ dbSizeBytes, dbSizeInUseBytes }: MemberSpace): number =>
  Math.max(0, dbSizeBytes - dbSizeInUseBytes);

/** Between 0 and 1. */
export const freeShare = (member: MemberSpace): number =>
  member.dbSizeBytes === 0 ? 0 : freeBytes(member) / member.dbSizeBytes;

/** Whether the other members have a quorum without this one. `replicas`: number of voting members. */
export function hasQuorumWithout(name: string, members: readonly MemberSpace[], replicas: number): boolean {
  const others = members.filter((one) => one.name !== name && one.isHealthy).length;
  return others > replicas / 2;
}
