/** etcdserverpb.Maintenance and etcdserverpb.Cluster: sizes, alarms, defragmentation, members. */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import type { Revision } from '../../../contract.ts';
import { headerField } from './header.ts';

export const maintenanceMethods = {
  status: '/etcdserverpb.Maintenance/Status',
  alarm: '/etcdserverpb.Maintenance/Alarm',
  defragment: '/etcdserverpb.Maintenance/Defragment',
  moveLeader: '/etcdserverpb.Maintenance/MoveLeader',
  snapshot: '/etcdserverpb.Maintenance/Snapshot',
  memberList: '/etcdserverpb.Cluster/MemberList',
  memberAdd: '/etcdserverpb.Cluster/MemberAdd',
  memberRemove: '/etcdserverpb.Cluster/MemberRemove',
  memberPromote: '/etcdserverpb.Cluster/MemberPromote',
} as const;

/** In hexadecimal, as etcdctl prints it. */
export type MemberId = string & { readonly memberId: unique symbol };

/** The state of the member that answers. */
export interface MemberStatus {
  readonly member: MemberId;
  readonly version: string;
  /** Size of the database file. */
  readonly dbSizeBytes: number;
  /** Part of the file that a defragmentation keeps. */
  readonly dbSizeInUseBytes: number;
  /** Size at which the alarm NOSPACE is raised. Absent: etcd before 3.6 does not report it. */
  readonly quotaBytes?: number | undefined;
  /** Absent: there is no leader. */
  readonly leader?: MemberId | undefined;
  readonly isLearner: boolean;
  /** Of the key-value store of this member. */
  readonly revision: Revision;
  readonly raftTerm: number;
  /** Last entry that is committed, as far as the member knows. */
  readonly raftIndex: number;
  /** Last entry that the member applied to its database. */
  readonly appliedIndex: number;
  /** Version of the format of the database, such as 3.6.0. Absent: etcd before 3.6 does not report it. */
  readonly storageVersion?: string | undefined;
  /** Errors that the member reports: its alarms, and a missing leader. */
  readonly errors: readonly string[];
}

/** `NOSPACE`: the database of the member exceeds its quota, and the cluster refuses writes. `CORRUPT`: members differ. */
export type AlarmType = 'NOSPACE' | 'CORRUPT';

export interface Alarm {
  readonly member: MemberId;
  readonly type: AlarmType;
}

export interface Member {
  readonly id: MemberId;
  /** Empty: the member has not started yet. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** Empty: the member has not started yet. */
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

const alarmNumbers: Readonly<Record<AlarmType, number>> = { NOSPACE: 1, CORRUPT: 2 };
const deactivate = 2;

/** A message without fields: of Status, Defragment, a list of alarms, and the list of members that the queried member knows. */
export const encodeEmpty = (): Buffer => new MessageWriter(8).finishFrame();

export const encodeDisarm = ({ member, type }: Alarm): Buffer =>
  new MessageWriter(32).uint(3, alarmNumbers[type]).int64(2, numberOf(member)).uint(1, deactivate).finishFrame();

/** Field 1 of a list of members: the list is linearizable. */
export const encodeMembersQuery = (isLinearizable: boolean): Buffer =>
  new MessageWriter(8).flag(1, isLinearizable).finishFrame();

/** The writer writes from the end, so the last field comes first. */
export const encodeAddLearner = (peerUrl: string): Buffer =>
  new MessageWriter(peerUrl.length + 32).flag(2, true).string(1, peerUrl).finishFrame();

/** Of removal, promotion and transfer of leadership. */
export const encodeMemberId = (member: MemberId): Buffer =>
  new MessageWriter(32).int64(1, numberOf(member)).finishFrame();

export function decodeStatus(message: Buffer): MemberStatus {
  const reader = new MessageReader(message);
  let [header, leader] = [{ member: idOf(0n), revision: 0 as Revision }, 0n];
  let [version, dbSizeBytes, dbSizeInUseBytes, quotaBytes, isLearner] = ['', 0, 0, 0, false];
  let [raftTerm, raftIndex, appliedIndex] = [0, 0, 0];
  const errors: string[] = [];
  let storageVersion = '';
  while (reader.at < message.length) {
    switch (reader.tag()) {
      case headerField:
        header = readMemberHeader(reader);
        break;
      case bytesField(2):
        version = reader.string();
        break;
      case uintField(3):
        dbSizeBytes = reader.uint();
        break;
      case uintField(4):
        leader = reader.int64();
        break;
      case uintField(5):
        raftIndex = reader.uint();
        break;
      case uintField(6):
        raftTerm = reader.uint();
        break;
      case uintField(7):
        appliedIndex = reader.uint();
        break;
      case bytesField(8):
        errors.push(reader.string());
        break;
      case uintField(9):
        dbSizeInUseBytes = reader.uint();
        break;
      case uintField(10):
        isLearner = reader.flag();
        break;
      case bytesField(11):
        storageVersion = reader.string();
        break;
      case uintField(12):
        quotaBytes = reader.uint();
        break;
      default:
        reader.skip();
    }
  }
  return {
    ...header,
    version,
    dbSizeBytes,
    dbSizeInUseBytes,
    isLearner,
    raftTerm,
    raftIndex,
    appliedIndex,
    errors,
    ...(storageVersion === '' ? {} : { storageVersion }),
    ...(quotaBytes > 0 ? { quotaBytes } : {}),
    ...(leader === 0n ? {} : { leader: idOf(leader) }),
  };
}

/** Alarms of types that are not known are left out. */
export function decodeAlarms(message: Buffer): Alarm[] {
  return readAll(message, (reader) => {
    const end = reader.end();
    let [member, number] = [idOf(0n), 0];
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === uintField(1)) member = idOf(reader.int64());
      else if (tag === uintField(2)) number = reader.uint();
      else reader.skip();
    }
    const type = (Object.keys(alarmNumbers) as AlarmType[]).find((one) => alarmNumbers[one] === number);
    return type === undefined ? [] : [{ member, type }];
  });
}

export const decodeMembers = (message: Buffer): Member[] => readAll(message, (reader) => [readMember(reader)]);

/** Returns the member that was added. */
export const decodeAddedMember = (message: Buffer): Member => decodeMembers(message)[0]!;

function readMember(reader: MessageReader): Member {
  const end = reader.end();
  const [peerUrls, clientUrls]: [string[], string[]] = [[], []];
  let [id, name, isLearner] = [idOf(0n), '', false];
  while (reader.at < end) {
    const tag = reader.tag();
    if (tag === uintField(1)) id = idOf(reader.int64());
    else if (tag === bytesField(2)) name = reader.string();
    else if (tag === bytesField(3)) peerUrls.push(reader.string());
    else if (tag === bytesField(4)) clientUrls.push(reader.string());
    else if (tag === uintField(5)) isLearner = reader.flag();
    else reader.skip();
  }
  return { id, name, peerUrls, clientUrls, isLearner };
}

/** Lists of alarms and of members, and an added member, are field 2. */
function readAll<T>(message: Buffer, read: (reader: MessageReader) => T[]): T[] {
  const reader = new MessageReader(message);
  const all: T[] = [];
  while (reader.at < message.length) {
    if (reader.tag() === bytesField(2)) all.push(...read(reader));
    else reader.skip();
  }
  return all;
}

function readMemberHeader(reader: MessageReader): { readonly member: MemberId; readonly revision: Revision } {
  const end = reader.end();
  let [member, revision] = [idOf(0n), 0];
  while (reader.at < end) {
    const tag = reader.tag();
    if (tag === uintField(2)) member = idOf(reader.int64());
    else if (tag === uintField(3)) revision = reader.uint();
    else reader.skip();
  }
  return { member, revision: revision as Revision };
}

const numberOf = (member: MemberId): bigint => BigInt.asIntN(64, BigInt(`0x${member}`));
const idOf = (id: bigint): MemberId => BigInt.asUintN(64, id).toString(16) as MemberId;
