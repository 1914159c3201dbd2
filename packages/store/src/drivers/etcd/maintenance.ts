/**
 * Maintenance of an etcd cluster: sizes, alarms, compaction, defragmentation, and changes of its members.
 *
 *     const etcd = openEtcdMaintenance({ endpoints: ['https://10.0.0.7:2379'], tls });
 *     if ((await etcd.alarms()).length > 0) console.log(await etcd.status());
 *     etcd.close();
 *
 * `status`, `defragment` and `localMembers` concern the member that answers: open one for each member, with one endpoint. `moveLeader` must
 * be sent to the leader. All calls reject with a StoreError: `Unavailable` if no member answers in time, `Unauthenticated` if the certificate
 * or the password is refused, `InvalidRequest` if etcd refuses the change. A change that rejects with `Unavailable` may have happened.
 */

import { hasCode } from '@hangar/core';
import type { Revision } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import type { Request } from './client.ts';
import { encodeCompact, methods as kvMethods } from './messages/kv.ts';
import {
  decodeAddedMember,
  decodeAlarms,
  decodeMembers,
  decodeStatus,
  encodeAddLearner,
  encodeDisarm,
  encodeEmpty,
  encodeMemberId,
  encodeMembersQuery,
  maintenanceMethods as methods,
} from './messages/maintenance.ts';
import type { Alarm, Member, MemberId, MemberStatus } from './messages/maintenance.ts';
import { openClient } from './open-client.ts';
import type { ConnectionOptions } from './open-client.ts';
import { readSnapshot } from './snapshot-stream.ts';

export type { Revision } from '../../contract.ts';
export type { Alarm, AlarmType, Member, MemberId, MemberStatus } from './messages/maintenance.ts';

export type EtcdMaintenanceOptions = ConnectionOptions;

/** A database of 8 GiB on a slow disk. */
const rewriteTimeoutMs = 600_000;

export interface EtcdMaintenance {
  /** Returns the state of one member. It needs no leader. */
  status(): Promise<MemberStatus>;
  /** Returns the raised alarms of all members. */
  alarms(): Promise<readonly Alarm[]>;
  /** Clears an alarm. etcd raises NOSPACE again at the next write if the database still exceeds its quota. */
  disarm(alarm: Alarm): Promise<void>;
  /** Rewrites the database of one member without its free pages, within 10 minutes. The member answers no requests meanwhile. */
  defragment(): Promise<void>;
  /**
   * Removes the history before a revision of all members. Resolves when the member that answers removed it from its database; others may
   * still do so. A revision that was compacted before is not an error.
   */
  compact(revision: Revision): Promise<void>;
  /** Returns the members that a quorum agreed on. */
  members(): Promise<readonly Member[]>;
  /** Returns the members that the queried member knows, which can be an older list. It needs no leader. */
  localMembers(): Promise<readonly Member[]>;
  /** Adds a member without a vote. It starts with this peer URL, an empty data directory and the initial cluster state `existing`. */
  addLearner(peerUrl: string): Promise<Member>;
  /** Removes a member for ever: its data directory cannot join again. */
  removeMember(member: MemberId): Promise<void>;
  /** Gives a learner a vote. Returns false while its log is too far behind that of the leader. */
  promote(member: MemberId): Promise<boolean>;
  /** Transfers the leadership to a voting member. */
  moveLeader(member: MemberId): Promise<void>;
  /**
   * Reads the database of the member that answers, followed by its SHA-256, as `etcdctl snapshot save` stores it. Memory is bounded. The
   * member keeps a transaction open until the last byte was read: write the parts to a file, not to a slow network.
   */
  snapshot(): AsyncGenerator<Uint8Array, void, void>;
  /** Fails calls in progress with `Closed`. */
  close(): void;
}

/** Connects at the first call. */
export function openEtcdMaintenance(options: EtcdMaintenanceOptions): EtcdMaintenance {
  const client = openClient(options);
  const read = <T>(method: string, decode: Request<T>['decode']): Promise<T> =>
    client.call({ method, frame: encodeEmpty(), decode, repeatable: true });
  const readLocal = <T>(method: string, decode: Request<T>['decode']): Promise<T> =>
    client.call({ method, frame: encodeEmpty(), decode, repeatable: true, withoutLeader: true });
  const change = <T>(method: string, frame: Buffer, decode: Request<T>['decode']): Promise<T> =>
    client.call({ method, frame, decode, repeatable: false });
  return {
    status: () => readLocal(methods.status, decodeStatus),
    alarms: () => read(methods.alarm, decodeAlarms),
    members: () =>
      client.call({
        method: methods.memberList,
        frame: encodeMembersQuery(true),
        decode: decodeMembers,
        repeatable: true,
      }),
    localMembers: () => readLocal(methods.memberList, decodeMembers),
    addLearner: (peerUrl) => change(methods.memberAdd, encodeAddLearner(peerUrl), decodeAddedMember),
    removeMember: (member) => change(methods.memberRemove, encodeMemberId(member), () => undefined),
    promote: (member) => promoted(change(methods.memberPromote, encodeMemberId(member), () => undefined)),
    moveLeader: (member) => change(methods.moveLeader, encodeMemberId(member), () => undefined),
    // Both can be repeated: a cleared alarm and an empty free list stay as they are.
    disarm: (alarm) =>
      client.call({ method: methods.alarm, frame: encodeDisarm(alarm), decode: () => undefined, repeatable: true }),
    compact: (revision) =>
      compacted(
        client.call({
          method: kvMethods.compact,
          frame: encodeCompact(revision, true),
          decode: () => undefined,
          repeatable: true,
          timeoutMs: rewriteTimeoutMs,
        }),
      ),
    defragment: () =>
      client.call({
        method: methods.defragment,
        frame: encodeEmpty(),
        decode: () => undefined,
        repeatable: true,
        withoutLeader: true,
        timeoutMs: rewriteTimeoutMs,
      }),
    snapshot: () => readSnapshot(client),
    close: () => client.close(),
  };
}

async function compacted(compaction: Promise<void>): Promise<void> {
  try {
    await compaction;
  } catch (error) {
    if (!hasCode(error, 'Compacted')) throw error;
  }
}

async function promoted(promotion: Promise<void>): Promise<boolean> {
  try {
    await promotion;
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.message.includes('in sync with leader')) return false;
    throw error;
  }
}
