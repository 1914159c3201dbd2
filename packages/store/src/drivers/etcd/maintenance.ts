/**
 * Maintenance of an etcd cluster: sizes, alarms, defragmentation and members.
 *
 *     const etcd = openEtcdMaintenance({ endpoints: ['https://10.0.0.7:2379'], tls });
 *     if ((await etcd.alarms()).length > 0) console.log(await etcd.status());
 *     etcd.close();
 *
 * `status` and `defragment` concern the member that answers: open one for each member, with one endpoint. All calls reject with a
 * StoreError: `Unavailable` if no member answers in time, `Unauthenticated` if the certificate or the password is refused.
 */

import { systemClock, systemRandom, systemTransport } from '@hangar/core';
import { Client } from './client.ts';
import type { Request } from './client.ts';
import type { EtcdStoreOptions } from './etcd-store.ts';
import { parseEndpoint } from './grpc/endpoint.ts';
import {
  decodeAlarms,
  decodeMembers,
  decodeStatus,
  encodeDisarm,
  encodeEmpty,
  maintenanceMethods as methods,
} from './messages/maintenance.ts';
import type { Alarm, Member, MemberStatus } from './messages/maintenance.ts';

export type { Alarm, AlarmType, Member, MemberId, MemberStatus } from './messages/maintenance.ts';

export type EtcdMaintenanceOptions = Pick<
  EtcdStoreOptions,
  'endpoints' | 'tls' | 'auth' | 'clock' | 'random' | 'transport' | 'requestTimeoutMs'
>;

export interface EtcdMaintenance {
  /** Returns the state of one member. */
  status(): Promise<MemberStatus>;
  /** Returns the raised alarms of all members. */
  alarms(): Promise<readonly Alarm[]>;
  /** Clears an alarm. etcd raises NOSPACE again at the next write if the database still exceeds its quota. */
  disarm(alarm: Alarm): Promise<void>;
  /** Rewrites the database of one member without its free pages. The member answers no requests meanwhile. */
  defragment(): Promise<void>;
  members(): Promise<readonly Member[]>;
  /** Fails calls in progress with `Closed`. */
  close(): void;
}

/** Connects at the first call. */
export function openEtcdMaintenance(options: EtcdMaintenanceOptions): EtcdMaintenance {
  const client = new Client({
    endpoints: options.endpoints.map(parseEndpoint),
    tls: options.tls,
    auth: options.auth,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    transport: options.transport ?? systemTransport,
    requestTimeoutMs: options.requestTimeoutMs ?? 5_000,
  });
  const read = <T>(method: string, decode: Request<T>['decode']): Promise<T> =>
    client.call({ method, frame: encodeEmpty(), decode, repeatable: true });
  return {
    status: () => read(methods.status, decodeStatus),
    alarms: () => read(methods.alarm, decodeAlarms),
    members: () => read(methods.memberList, decodeMembers),
    // Both can be repeated: a cleared alarm and an empty free list stay as they are.
    disarm: (alarm) =>
      client.call({ method: methods.alarm, frame: encodeDisarm(alarm), decode: () => undefined, repeatable: true }),
    defragment: () => read(methods.defragment, () => undefined),
    close: () => client.close(),
  };
}
