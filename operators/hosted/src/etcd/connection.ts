/**
 * Connections to the etcd members of a control plane, with the client certificate of its API servers. Behind a fence that user can only read,
 * and the operator connects as the administrator of etcd.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { openEtcdMaintenance } from '@hangar/store/etcd-maintenance';
import type { EtcdMaintenance } from '@hangar/store/etcd-maintenance';
import { pooled } from '@hangar/pki';
import type { World as CertificateWorld } from '@hangar/pki';
import { textIn } from '../pki/secrets.ts';
import { authorityNames, bundleName, certificateNames, etcdClientPort } from '../render/index.ts';
import type { Plane } from '../render/index.ts';

export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface MemberAddress {
  readonly pod: string;
  /** In the certificate of the member. */
  readonly serverName: string;
  /** Name or IP address. */
  readonly host: string;
}

const requestTimeoutMs = 3_000;

/** Undefined: the certificates do not exist yet. */
export async function credentialsOf(
  plane: Pick<Plane, 'name' | 'namespace'>,
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<Credentials | undefined> {
  const { namespace } = plane;
  const secret = await find(client, Secret, { namespace, name: certificateNames(plane).etcdClient }, { signal });
  const bundle = await find(client, ConfigMap, { namespace, name: bundleName(plane) }, { signal });
  const [ca, cert, key] = [bundle?.data?.['etcd-ca.crt'] ?? '', textIn(secret, 'tls.crt'), textIn(secret, 'tls.key')];
  return ca && cert && key ? { ca, cert, key } : undefined;
}

/** Common name of the client certificate of API servers: the user that a fence limits. */
export const apiServerUser = 'kube-apiserver-etcd-client';
/** The administrator of etcd. */
export const operatorUser = 'root';
const operatorDays = 7;

/** Issues a certificate of the administrator of etcd. It is not stored. Undefined: the authority does not exist yet. */
export async function operatorCredentialsOf(
  plane: Pick<Plane, 'name' | 'namespace'>,
  client: Pick<Client, 'get'>,
  world: CertificateWorld & { readonly signal: AbortSignal },
): Promise<Credentials | undefined> {
  const { namespace } = plane;
  const { signal } = world;
  const secret = await find(client, Secret, { namespace, name: authorityNames(plane).etcd }, { signal });
  const bundle = await find(client, ConfigMap, { namespace, name: bundleName(plane) }, { signal });
  const authority = { certificate: textIn(secret, 'tls.crt'), key: textIn(secret, 'tls.key') };
  const ca = bundle?.data?.['etcd-ca.crt'] ?? '';
  if (!ca || !authority.certificate || !authority.key) return undefined;
  const request = { commonName: operatorUser, usage: 'client' as const, days: operatorDays };
  const { certificate, key } = await pooled.issueCertificate(authority, request, world);
  return { ca, cert: certificate, key };
}

export const openMember = (
  { host, serverName }: MemberAddress,
  credentials: Credentials,
  timeoutMs = requestTimeoutMs,
): EtcdMaintenance =>
  openEtcdMaintenance({
    endpoints: [`https://${host.includes(':') ? `[${host}]` : host}:${etcdClientPort}`],
    tls: { ...credentials, serverName },
    requestTimeoutMs: timeoutMs,
  });

/** Ignores members that stop or that are in another network: the StatefulSet reports members that are not ready. */
export async function unlessUnavailable<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (['Unavailable', 'Unauthenticated', 'Closed'].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}
