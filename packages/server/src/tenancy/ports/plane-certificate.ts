/** Serving certificates for the ports of tenants, each issued by the CA of its tenant. */

import type { KeyPair } from '@hangar/pki';
import type { Store } from '@hangar/store';
import type { ServerCertificate } from '../../http/server-names.ts';
import type { KeyWorld } from '../keys/keys.ts';
import { tenantKeys } from '../keys/keys.ts';
import { pki } from '../keys/pki.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import type { Tenant } from '../tenant.ts';

export interface PlaneCertificateOptions extends KeyWorld {
  readonly store: Store;
  readonly storePrefix: string;
  /** Names and addresses of this server in the certificates of all tenants. */
  readonly hosts: () => readonly string[];
}

/** Names of the service `kubernetes`, and of the machine of the server. */
const usualHosts = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
  '127.0.0.1',
  '::1',
];

const days = 90;
const renewBeforeMs = 30 * 86_400_000;

interface Issued {
  readonly hosts: string;
  readonly pair: KeyPair;
  readonly renewAt: number;
}

/**
 * Returns a function with the current certificate of one tenant. It returns the same object until the certificate has to be renewed or the
 * names change. Rejects if the tenant was deleted.
 */
export function planeCertificate(
  options: PlaneCertificateOptions,
  tenant: () => Tenant,
): () => Promise<ServerCertificate> {
  let issued: Issued | undefined;
  let issuing: { readonly hosts: string; readonly pair: Promise<KeyPair> } | undefined;
  const issue = async (all: readonly string[], hosts: string): Promise<KeyPair> => {
    const authority = await authorityOf(options, tenant().path);
    const { expiresAt, issueCertificate } = pki();
    const pair = issueCertificate(
      authority,
      { commonName: 'kube-apiserver', usage: 'server', hosts: all, days },
      options,
    );
    issued = { hosts, pair, renewAt: expiresAt(pair.certificate) - renewBeforeMs };
    return pair;
  };
  return async () => {
    const all = [...new Set([...usualHosts, ...options.hosts(), ...(tenant().spec.hosts ?? [])])];
    const hosts = all.join();
    if (issued?.hosts === hosts && issued.renewAt > options.clock.now()) return issued.pair;
    // All nodes connect at the same time after a restart. One certificate is enough for all of them.
    if (issuing?.hosts === hosts) return issuing.pair;
    const current = { hosts, pair: issue(all, hosts) };
    issuing = current;
    try {
      return await current.pair;
    } finally {
      if (issuing === current) issuing = undefined;
    }
  };
}

async function authorityOf(
  { store, storePrefix, clock, random }: PlaneCertificateOptions,
  path: string,
): Promise<KeyPair> {
  const prefix = tenantPrefix(storePrefix, path);
  const { entry } = await store.get(identityKey(prefix));
  if (!entry) throw new Error(`control plane "${path}" was deleted`);
  return (await tenantKeys({ store, prefix, path, identityRevision: entry.modRevision, clock, random })).authority;
}
