/**
 * Reads the alarms and sizes of the etcd of a control plane, with the client certificate of its API servers. Alarms are the same on all
 * members, so one member is queried; the others only when there is an alarm.
 */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { ConfigMap, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { openEtcdMaintenance } from '@hangar/store/etcd-maintenance';
import type { AlarmType, EtcdMaintenance } from '@hangar/store/etcd-maintenance';
import { clusterNameLabel } from '../api/index.ts';
import { textIn } from '../pki/secrets.ts';
import { bundleName, certificateNames, etcdClientPort, etcdMembers } from '../render/index.ts';

export interface EtcdAlarm {
  readonly type: AlarmType;
  /** Name of the pod. */
  readonly member: string;
  /** Absent: the member did not answer. */
  readonly dbSizeBytes?: number | undefined;
  /** Absent: the member did not answer, or does not report its quota. */
  readonly quotaBytes?: number | undefined;
}

export interface EtcdHealth {
  /** Of the largest database of the members that answered. */
  readonly dbSizeBytes: number;
  /** In the order of the members. */
  readonly alarms: readonly EtcdAlarm[];
}

/** The etcd of one control plane. */
export interface EtcdTarget {
  readonly namespace: string;
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly replicas: number;
}

export interface ProbeContext {
  /** Reads from the cache. */
  readonly client: Pick<Client, 'get'>;
  readonly apiReader: Reader;
  /** Changes with every probe, so that each member is queried in turn. */
  readonly turn: number;
  readonly signal: AbortSignal;
}

/** Undefined: no member can be reached, for example because the operator runs outside of the cluster. */
export type EtcdProbe = (target: EtcdTarget, context: ProbeContext) => Promise<EtcdHealth | undefined>;

interface MemberAddress {
  readonly pod: string;
  /** In the certificate of the member. */
  readonly serverName: string;
  readonly host: string;
}

const requestTimeoutMs = 3_000;

/** `service`: members are reached by their names in the cluster. `endpoint`: by the addresses of their pods. */
export const etcdProbe =
  (reach: 'service' | 'endpoint'): EtcdProbe =>
  async (target, context) => {
    const credentials = await credentialsOf(target, context);
    if (!credentials) return undefined;
    const members = reach === 'service' ? byName(target) : await byAddress(target, context);
    const opened = members.map((member) => ({ member, etcd: openMember(member, credentials) }));
    try {
      return await probeMembers(opened, context.turn);
    } finally {
      for (const { etcd } of opened) etcd.close();
    }
  };

interface OpenedMember {
  readonly member: MemberAddress;
  readonly etcd: EtcdMaintenance;
}

async function probeMembers(opened: readonly OpenedMember[], turn: number): Promise<EtcdHealth | undefined> {
  const start = opened.length === 0 ? 0 : turn % opened.length;
  for (const { etcd } of [...opened.slice(start), ...opened.slice(0, start)]) {
    const answers = await unlessUnavailable(() => Promise.all([etcd.status(), etcd.alarms()]));
    if (!answers) continue;
    const [{ dbSizeBytes }, alarms] = answers;
    if (alarms.length === 0) return { dbSizeBytes, alarms: [] };
    const names = new Map((await etcd.members()).map(({ id, name }) => [id, name]));
    const statuses = await Promise.all(opened.map((one) => unlessUnavailable(() => one.etcd.status())));
    const known = new Map(statuses.flatMap((status) => (status ? [[status.member, status]] : [])));
    return {
      dbSizeBytes: Math.max(dbSizeBytes, ...[...known.values()].map((status) => status.dbSizeBytes)),
      alarms: alarms
        .map(({ member, type }) => ({
          type,
          member: names.get(member) ?? member,
          dbSizeBytes: known.get(member)?.dbSizeBytes,
          quotaBytes: known.get(member)?.quotaBytes,
        }))
        .sort((a, b) => (a.member < b.member ? -1 : 1)),
    };
  }
  return undefined;
}

/** Ignores members that stop or that are in another network: the StatefulSet reports members that are not ready. */
async function unlessUnavailable<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (['Unavailable', 'Unauthenticated', 'Closed'].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

async function credentialsOf(target: EtcdTarget, { client, signal }: ProbeContext): Promise<Credentials | undefined> {
  const { namespace } = target;
  const secret = await find(client, Secret, { namespace, name: certificateNames(target).etcdClient }, { signal });
  const bundle = await find(client, ConfigMap, { namespace, name: bundleName(target) }, { signal });
  const [ca, cert, key] = [bundle?.data?.['etcd-ca.crt'] ?? '', textIn(secret, 'tls.crt'), textIn(secret, 'tls.key')];
  return ca && cert && key ? { ca, cert, key } : undefined;
}

const openMember = ({ host, serverName }: MemberAddress, credentials: Credentials): EtcdMaintenance =>
  openEtcdMaintenance({
    endpoints: [`https://${host.includes(':') ? `[${host}]` : host}:${etcdClientPort}`],
    tls: { ...credentials, serverName },
    requestTimeoutMs,
  });

const byName = (target: EtcdTarget): MemberAddress[] =>
  Array.from(etcdMembers(target, target.replicas), ([pod, host]) => ({ pod, host, serverName: host }));

async function byAddress(target: EtcdTarget, { apiReader, signal }: ProbeContext): Promise<MemberAddress[]> {
  const { namespace, name } = target;
  const labelSelector = { [clusterNameLabel]: name, 'app.kubernetes.io/component': 'etcd' };
  const { items } = await apiReader.list(Pod, { namespace, labelSelector, signal });
  const addresses = new Map(items.map(({ metadata, status }) => [metadata.name, status?.podIP]));
  return byName(target).flatMap((member) => {
    const host = addresses.get(member.pod);
    return host ? [{ ...member, host }] : [];
  });
}
