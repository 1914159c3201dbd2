/**
 * Who runs the controllers of a tenant. While a registration for `controllers`, or the control plane's endpoint, says that a controller
 * manager has the control plane (a condition `ControllersReady`, whatever its status), the Tenant says so, and the essential controllers
 * leave it alone.
 *
 * The operator takes away only what it has set itself, which it marks: by hand the Tenant may be left to others for ever. Keyed by
 * control plane.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { findCondition } from '@hangar/runtime';
import type { Cache, Cluster, ControllerOptions, Reconciler } from '@hangar/runtime';
import {
  annotations,
  clusterPathOf,
  ControlPlane,
  controllersAnnotation,
  ControlPlaneEndpoint,
  controllersReady,
  ControlPlaneRegistration,
} from '../api/index.ts';
import { tenantEvents } from '../control-plane/tenants.ts';
import { Tenant } from '../host/index.ts';
import type { TenantHost, TenantObject } from '../host/index.ts';
import { addMarkIndex, endpointOf, markOfEndpoint, requestsOfEndpoint } from './endpoint-controllers.ts';
import { requestsOfNeighbours } from './endpoint-controllers.ts';
import { ofControlPlane } from './indexes.ts';
import { controlPlaneOf } from './resolution.ts';
import { hasService } from './services.ts';

export interface ExternalControllersWorld {
  readonly host: Pick<TenantHost, 'client'>;
  /** The host's Tenants, cached. */
  readonly tenants: Cluster;
}

type Watched = [ControlPlaneRegistration, ControlPlaneEndpoint, ControlPlane];

/** `addRegistrationIndexes` and the indexes of control planes come first. */
export function externalControllersController(
  world: ExternalControllersWorld,
): ControllerOptions<ControlPlane, [], Watched> {
  addMarkIndex(world.tenants.cache);
  return {
    name: 'external-controllers',
    for: { kind: ControlPlane, where: { update: () => false } },
    watches: [
      { kind: ControlPlaneRegistration, map: (registration) => [{ name: controlPlaneOf(registration) }] },
      { kind: ControlPlaneEndpoint, map: (endpoint, { cache }) => requestsOfEndpoint(endpoint, cache) },
      {
        kind: ControlPlane,
        // At the beginning every control plane is looked at anyway.
        where: { create: (_, isInitial) => !isInitial, update: (one, other) => endpointOf(one) !== endpointOf(other) },
        map: (controlPlane, { cache }) => [
          { name: controlPlane.metadata.name! },
          ...requestsOfNeighbours(controlPlane, cache, world.tenants.cache),
        ],
      },
    ],
    sources: [tenantEvents(world.tenants)],
    concurrency: 4,
    reconcile: externalControllersReconciler(world),
  };
}

export const externalControllersReconciler =
  ({ host, tenants }: ExternalControllersWorld): Reconciler =>
  async ({ name }, { client, cluster, signal }) => {
    const controlPlane = name === '' ? undefined : await find(client, ControlPlane, { name });
    if (!controlPlane) return;
    const tenant = await find(tenants.client, Tenant, { name: clusterPathOf(controlPlane) });
    if (!tenant || tenant.metadata.annotations?.[annotations.uid] !== controlPlane.metadata.uid) return;
    const by = chosen(cluster.cache, controlPlane, tenant);
    if (isAs(tenant, by)) return;
    await write(host.client, tenant, by, signal);
  };

/** On whose behalf it is; the one from before stays as long as it may. Registrations go before endpoints. */
function chosen(cache: Pick<Cache, 'informer'>, controlPlane: ControlPlane, tenant: TenantObject): string | undefined {
  const registrations = Array.from(ofControlPlane(cache, controlPlane.metadata.name!))
    .filter(isTaken)
    .map(({ metadata }) => metadata.name!)
    .sort();
  const able = [...registrations, markOfEndpoint(cache, controlPlane)];
  const before = tenant.metadata.annotations?.[annotations.controllersBy];
  return before !== undefined && able.includes(before) ? before : able[0];
}

const isTaken = ({ spec, status }: ControlPlaneRegistration): boolean =>
  hasService(spec?.services, 'controllers') && findCondition(status?.conditions, controllersReady) !== undefined;

/** Also when it is not the operator's to change. */
function isAs({ metadata }: TenantObject, by: string | undefined): boolean {
  const { [controllersAnnotation]: value, [annotations.controllersBy]: marked } = metadata.annotations ?? {};
  if (value !== undefined && marked === undefined) return true;
  return marked === by && (by === undefined || value === 'External');
}

async function write(client: Client, { metadata }: TenantObject, by: string | undefined, signal: AbortSignal) {
  const { uid, resourceVersion, name } = metadata;
  const said = {
    [controllersAnnotation]: by === undefined ? null : 'External',
    [annotations.controllersBy]: by ?? null,
  };
  const body = { metadata: { uid, resourceVersion, annotations: said } };
  await client.patch(Tenant, { name: name! }, { type: 'merge', body }, { signal });
}
