/** Access to the etcd members of a control plane for backups and restores: snapshots, sizes, and ranges of keys. */

import type { Client, Reader } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { openEtcdStore } from '@hangar/store/etcd';
import type { Store } from '@hangar/store';
import type { EtcdMaintenance } from '@hangar/store/etcd-maintenance';
import { clusterNameLabel } from '../api/index.ts';
import { credentialsOf, openMember, operatorCredentialsOf } from '../etcd/connection.ts';
import type { Credentials, MemberAddress } from '../etcd/connection.ts';
import { componentLabel, etcdClientPort, etcdMembers } from '../render/index.ts';

/** The etcd of one control plane. */
export interface EtcdOfPlane {
  readonly namespace: string;
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly replicas: number;
  /** The user of API servers can only read. */
  readonly isFenced?: boolean | undefined;
}

export interface MemberAccessOptions {
  readonly client: Pick<Client, 'get'>;
  readonly apiReader: Reader;
  /** `service`: members are reached by their names in the cluster. `endpoint`: by the addresses of their pods. */
  readonly reach: 'service' | 'endpoint';
  readonly signal: AbortSignal;
}

export interface MemberAccess {
  readonly credentials: Credentials;
  /** Of members whose pods have an address. */
  readonly members: readonly MemberAddress[];
}

const requestTimeoutMs = 10_000;

/** Undefined: the certificates do not exist yet. */
export async function memberAccess(
  etcd: EtcdOfPlane,
  { client, apiReader, reach, signal }: MemberAccessOptions,
): Promise<MemberAccess | undefined> {
  const world = { clock: systemClock, random: systemRandom, signal };
  const credentials = etcd.isFenced
    ? await operatorCredentialsOf(etcd, client, world)
    : await credentialsOf(etcd, client, signal);
  if (!credentials) return undefined;
  const byName = Array.from(etcdMembers(etcd, etcd.replicas), ([pod, host]) => ({ pod, host, serverName: host }));
  if (reach === 'service') return { credentials, members: byName };
  const labelSelector = { [clusterNameLabel]: etcd.name, [componentLabel]: 'etcd' };
  const { items } = await apiReader.list(Pod, { namespace: etcd.namespace, labelSelector, signal });
  const addresses = new Map(items.map(({ metadata, status }) => [metadata.name, status?.podIP]));
  const members = byName.flatMap((member) => {
    const host = addresses.get(member.pod);
    return host ? [{ ...member, host }] : [];
  });
  return { credentials, members };
}

export const openMaintenance = ({ credentials }: MemberAccess, member: MemberAddress): EtcdMaintenance =>
  openMember(member, credentials, requestTimeoutMs);

/** Opens a member for reads of keys. The caller closes it. */
export const openKeys = ({ credentials }: MemberAccess, { host, serverName }: MemberAddress): Promise<Store> =>
  openEtcdStore({
    endpoints: [`https://${host.includes(':') ? `[${host}]` : host}:${etcdClientPort}`],
    tls: { ...credentials, serverName },
    requestTimeoutMs,
  });
