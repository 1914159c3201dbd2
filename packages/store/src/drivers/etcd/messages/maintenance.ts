/** etcdserverpb.Maintenance and etcdserverpb.Cluster: sizes, alarms, defragmentation, members. */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import { headerField } from './header.ts';

export const maintenanceMethods = {
  status: '/etcdserverpb.Maintenance/Status',
  alarm: '/etcdserverpb.Maintenance/Alarm',
  defragment: '/etcdserverpb.Maintenance/Defragment',
  memberList: '/etcdserverpb.Cluster/MemberList',
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
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

const alarmNumbers: Readonly<Record<AlarmType, number>> = { NOSPACE: 1, CORRUPT: 2 };
const deactivate = 2;

/** A message without fields: of Status, Defragment, a list of alarms, and a list of members. */
export const encodeEmpty = (): Buffer => new MessageWriter(8).finishFrame();

export const encodeDisarm = ({ member, type }: Alarm): Buffer =>
  new MessageWriter(32)
    .uint(3, alarmNumbers[type])
    .int64(2, BigInt.asIntN(64, BigInt(`0x${member}`)))
    .uint(1, deactivate)
    .finishFrame();

export function decodeStatus(message: Buffer): MemberStatus {
  const reader = new MessageReader(message);
  let [member, leader] = [idOf(0n), 0n];
  let [version, dbSizeBytes, dbSizeInUseBytes, quotaBytes, isLearner] = ['', 0, 0, 0, false];
  while (reader.at < message.length) {
    switch (reader.tag()) {
      case headerField:
        member = readMemberOfHeader(reader);
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
      case uintField(9):
        dbSizeInUseBytes = reader.uint();
        break;
      case uintField(10):
        isLearner = reader.flag();
        break;
      case uintField(12):
        quotaBytes = reader.uint();
        break;
      default:
        reader.skip();
    }
  }
  return {
    member,
    version,
    dbSizeBytes,
    dbSizeInUseBytes,
    isLearner,
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

export function decodeMembers(message: Buffer): Member[] {
  return readAll(message, (reader) => {
    const end = reader.end();
    const clientUrls: string[] = [];
    let [id, name, isLearner] = [idOf(0n), '', false];
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === uintField(1)) id = idOf(reader.int64());
      else if (tag === bytesField(2)) name = reader.string();
      else if (tag === bytesField(4)) clientUrls.push(reader.string());
      else if (tag === uintField(5)) isLearner = reader.flag();
      else reader.skip();
    }
    return [{ id, name, clientUrls, isLearner }];
  });
}

/** Both lists are field 2. */
function readAll<T>(message: Buffer, read: (reader: MessageReader) => T[]): T[] {
  const reader = new MessageReader(message);
  const all: T[] = [];
  while (reader.at < message.length) {
    if (reader.tag() === bytesField(2)) all.push(...read(reader));
    else reader.skip();
  }
  return all;
}

function readMemberOfHeader(reader: MessageReader): MemberId {
  const end = reader.end();
  let member = idOf(0n);
  while (reader.at < end) {
    if (reader.tag() === uintField(2)) member = idOf(reader.int64());
    else reader.skip();
  }
  return member;
}

const idOf = (id: bigint): MemberId => BigInt.asUintN(64, id).toString(16) as MemberId;
