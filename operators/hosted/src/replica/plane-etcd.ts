/** The etcd of a replica, as its administrator: the fence, the revision, and access to the content. */

import type { Revision } from '@hangar/store';
import { openEtcdFence, openEtcdReplica } from '@hangar/store/etcd-replica';
import type { EtcdReplica } from '@hangar/store/etcd-replica';
import { memberAccess } from '../backup/member-access.ts';
import type { EtcdOfPlane, MemberAccessOptions } from '../backup/member-access.ts';
import { apiServerUser, operatorUser } from '../etcd/connection.ts';
import { etcdClientPort } from '../render/index.ts';
import { registryPrefix } from './snapshot-files.ts';
import { asJson } from './stored-values.ts';

export interface PlaneEtcd extends AsyncDisposable {
  /** Refuses all later writes of API servers. Returns the last revision. */
  fence(): Promise<Revision>;
  unfence(): Promise<void>;
  isFenced(): Promise<boolean>;
  /** Returns a revision that is at least that of every write before the call. */
  revision(): Promise<Revision>;
  /** The caller closes it. */
  openContent(): Promise<PlaneContent>;
}

export type PlaneContent = Pick<EtcdReplica, 'apply' | 'digest' | 'frames' | 'close'>;

/** Undefined: no member has an address yet, or the certificates do not exist. */
export type OpenPlaneEtcd = (etcd: EtcdOfPlane, signal: AbortSignal) => Promise<PlaneEtcd | undefined>;

const requestTimeoutMs = 10_000;

export const overTls =
  (options: Omit<MemberAccessOptions, 'signal'>): OpenPlaneEtcd =>
  async (etcd, signal) => {
    const access = await memberAccess({ ...etcd, isFenced: true }, { ...options, signal });
    const [first] = access?.members ?? [];
    if (!access || !first) return undefined;
    const endpoints = access.members.map(
      ({ host }) => `https://${host.includes(':') ? `[${host}]` : host}:${etcdClientPort}`,
    );
    // The certificates of members are valid for the names of all of them.
    const connection = { endpoints, tls: { ...access.credentials, serverName: first.serverName }, requestTimeoutMs };
    const fence = openEtcdFence({ ...connection, reader: apiServerUser, operator: operatorUser });
    return {
      fence: () => fence.fence(),
      unfence: () => fence.unfence(),
      isFenced: () => fence.isFenced(),
      revision: () => fence.revision(),
      openContent: () => openEtcdReplica({ ...connection, prefix: registryPrefix, convert: asJson }),
      [Symbol.asyncDispose]: async () => fence.close(),
    };
  };
