/**
 * Provider of the tenants of a Hangar with one list and one watch for each kind, regardless of their number. A tenant costs a view of the
 * shared cache; writes go to its own path, over the connections of the management plane. The client must be allowed to read all tenants.
 *
 * A tenant that has moved to a dedicated control plane is not on that stream. Its cluster has a separate cache, by the same path.
 */

import { defineKind } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { CacheOptions } from '../../cache/cache-options.ts';
import { FleetCache } from '../../cache/fleet-cache.ts';
import { newCluster } from '../../new-cluster.ts';
import type { Provider } from '../contract.ts';
import { fleetProvider } from './fleet-provider.ts';
import type { ManagementOptions } from './informed.ts';
import { pathClient } from './path-client.ts';

/** Options of `hangarWildcard`. */
export interface HangarWildcardOptions extends ManagementOptions {
  /** Label selector of Tenants. */
  readonly labelSelector?: string;
  /** Includes tenants that are suspended with `ReadOnly`. Offline and quarantined tenants are never included. */
  readonly includeReadOnly?: boolean;
  /** Cache options for the objects of the tenants. */
  readonly cache?: CacheOptions;
}

interface TenantObject extends ApiObject {
  spec?: { readonly suspension?: 'ReadOnly' | 'Offline' };
  status?: { readonly quarantine?: object; readonly serving?: { readonly mode?: 'Local' | 'Remote' } };
}

const Tenant = defineKind<TenantObject>({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

const planePath = (tenant: string): string => `/clusters/${tenant}/control-plane`;
const everyTenant = '*';

const isRemote = ({ status }: TenantObject): boolean => status?.serving?.mode === 'Remote';

/** Returns a provider of the tenants of a Hangar, with one watch per kind for all of them. */
export function hangarWildcard(options: HangarWildcardOptions): Provider {
  const { management, labelSelector, includeReadOnly = false, cache, clock, log } = options;
  return fleetProvider({
    name: 'hangar-wildcard',
    management: options,
    kind: Tenant,
    informer: labelSelector ? { labelSelector } : {},
    isWanted: ({ spec, status }) =>
      status?.quarantine === undefined &&
      (spec?.suspension === undefined || (includeReadOnly && spec.suspension === 'ReadOnly')),
    newFleet: () => {
      const isElsewhere = (name: string, signal: AbortSignal): Promise<boolean> => isMoved(management, name, signal);
      return new FleetCache({
        client: pathClient(management, planePath(everyTenant)),
        options: cache,
        clock,
        log,
        isElsewhere,
      });
    },
    elsewhere: {
      isElsewhere: isRemote,
      open: (name) => newCluster({ name, client: pathClient(management, planePath(name)), cache, clock, log }),
    },
    open: (name, fleet) =>
      newCluster({ name, client: pathClient(management, planePath(name)), cache: fleet.cluster(name), log }),
  });
}

/** Rejects if the answer is unknown. */
async function isMoved(management: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return isRemote(await management.get(Tenant, { name }, { signal }));
  } catch (error) {
    if (hasCode(error, 'NotFound')) return false;
    throw error;
  }
}
