/** A cache of the host's Tenants: their owners and changes are known without requests. */

import { aborted } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { newCluster, withoutManagedFields } from '@hangar/runtime';
import type { Cluster, RawSource } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import type { TenantHost, TenantObject } from '../host/index.ts';
import { byPath } from './indexes.ts';

/** An unavailable host must not delay a status that does not depend on it. */
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

/** An event of a Tenant enqueues all control planes that want its path: its owner, and those that wait for it. */
export const tenantEvents =
  (tenants: Cluster): RawSource =>
  async ({ cluster, enqueue }, signal) => {
    const tell = ({ metadata }: TenantObject): void => {
      for (const { metadata: wanting } of cluster.cache.informer(ControlPlane).byIndex(byPath.name, metadata.name!)) {
        enqueue({ name: wanting.name! });
      }
    };
    const registration = tenants.cache.informer(Tenant).addHandler({
      // Initially every control plane is reconciled anyway.
      onAdd: (tenant, isInitial) => {
        if (!isInitial) tell(tenant);
      },
      onUpdate: (_before, after) => tell(after),
      onDelete: tell,
    });
    await aborted(signal);
    registration.remove();
  };
