/** The host's Tenants, kept in memory: whose each is, and what somebody did to it, is known without asking. */

import { aborted } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { newCluster, withoutManagedFields } from '@hangar/runtime';
import type { Cluster, RawSource } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import type { TenantHost, TenantObject } from '../host/index.ts';
import { byPath } from './indexes.ts';

/** A host that is away must not hold up what can be said without it. */
const readTimeoutMs = 5_000;

export const tenantsOf = (
  { client }: TenantHost,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Cluster =>
  newCluster({
    name: 'host',
    client,
    clock,
    log,
    cache: { readTimeoutMs, defaults: { transform: withoutManagedFields } },
  });

/** Whatever happens to a Tenant is the business of all who want its path: the one that has it, and those who wait for it. */
export const tenantEvents =
  (tenants: Cluster): RawSource =>
  async ({ cluster, enqueue }, signal) => {
    const tell = ({ metadata }: TenantObject): void => {
      for (const { metadata: wanting } of cluster.cache.informer(ControlPlane).byIndex(byPath.name, metadata.name!)) {
        enqueue({ name: wanting.name! });
      }
    };
    const registration = tenants.cache.informer(Tenant).addHandler({
      // At the beginning every control plane is looked at anyway.
      onAdd: (tenant, isInitial) => {
        if (!isInitial) tell(tenant);
      },
      onUpdate: (_before, after) => tell(after),
      onDelete: tell,
    });
    await aborted(signal);
    registration.remove();
  };
