/** `POST tenants/<path>/kubeconfig`: a client certificate of the tenant's own authority. */

import { configOfKubeconfig } from '@hangar/client';
import type { Client, ClientCertificate, WriteOptions } from '@hangar/client';
import { assert } from '@hangar/core';
import { Tenant } from './tenant.ts';
import type { TenantObject } from './tenant.ts';

export interface WantedPair {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expirationSeconds: number;
}

interface TenantKubeconfig {
  readonly status: { readonly kubeconfig: string };
}

/** Rejects with `NotFound` when there is no such tenant. */
export async function issuedPair(
  hostClient: Client,
  path: string,
  wanted: WantedPair,
  options?: WriteOptions,
): Promise<ClientCertificate> {
  const answer = await hostClient
    .subresource('kubeconfig')
    .create<TenantKubeconfig, TenantObject>(Tenant, { name: path }, { spec: wanted }, options);
  const { credentials } = await configOfKubeconfig(answer.status.kubeconfig, {
    source: `kubeconfig of tenant ${path}`,
  });
  const pair = await credentials?.clientCertificate?.();
  assert(pair, 'the host must return a client certificate');
  return pair;
}
