/**
 * Who runs the controllers of a tenant. While a registration for `controllers`, or the control plane's endpoint, says that a controller
 * manager has the control plane (a condition `ControllersReady`, whatever its status), the Tenant says so, and the essential controllers
 * leave it alone. A registration counts only if it leads to that very tenant: one may as well be for a cluster of somebody's own.
 *
 * The operator takes away only what it has set itself, which it marks: by hand the Tenant may be left to others for ever. Keyed by
 * control plane.
 */

import { isDeepStrictEqual } from 'node:util';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { Cache, Cluster, ControllerOptions, Reconciler } from '@hangar/runtime';
import {
  annotations,
  clusterPathOf,
  ControlPlane,
  controllersAnnotation,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
} from '../api/index.ts';
import { tenantEvents } from '../control-plane/tenants.ts';
import { isAtPath, isSameAddress } from '../endpoint/resolve.ts';
import { Tenant } from '../host/index.ts';
import type { TenantHost, TenantObject } from '../host/index.ts';
import { endpointOf, markOfEndpoint, requestsOfEndpoint, requestsOfNeighbours } from './endpoint-controllers.ts';
import { ofControlPlane } from './indexes.ts';
import { controlPlaneOf } from './resolution.ts';
import { isServed } from './served.ts';
import { hasService } from './services.ts';

export interface ExternalControllersWorld {
  readonly host: Pick<TenantHost, 'client'>;
  /** The host's Tenants, cached. */
  readonly tenants: Cluster;
}

type Watched = [ControlPlaneRegistration, ControlPlaneEndpoint, ControlPlane];

/** `addRegistrationIndexes` and the indexes of control planes come first. */
export const externalControllersController = (
  world: ExternalControllersWorld,
): ControllerOptions<ControlPlane, [], Watched> => ({
  name: 'external-controllers',
  for: { kind: ControlPlane, where: { update: () => false } },
  watches: [
    { kind: ControlPlaneRegistration, map: (registration) => [{ name: controlPlaneOf(registration) }] },
    { kind: ControlPlaneEndpoint, map: (endpoint, { cache }) => requestsOfEndpoint(endpoint, cache) },
    {
      kind: ControlPlane,
      // At the beginning every control plane is looked at anyway.
      where: { create: (_, isInitial) => !isInitial, update: isElsewhere },
      map: (controlPlane, { cache }) => [
        { name: controlPlane.metadata.name! },
        ...requestsOfNeighbours(controlPlane, cache),
      ],
    },
  ],
  sources: [tenantEvents(world.tenants)],
  concurrency: 4,
  reconcile: externalControllersReconciler(world),
});

const isElsewhere = (one: ControlPlane, other: ControlPlane): boolean =>
  endpointOf(one) !== endpointOf(other) || !isDeepStrictEqual(one.status?.endpoints, other.status?.endpoints);

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
  const before = tenant.metadata.annotations?.[annotations.controllersBy];
  const registrations = Array.from(ofControlPlane(cache, controlPlane.metadata.name!))
    .filter((one) => isTaken(one) && leadsTo(one, controlPlane, before))
    .map(({ metadata }) => metadata.name!)
    .sort();
  const able = [...registrations, markOfEndpoint(cache, controlPlane, before)];
  return before !== undefined && able.includes(before) ? before : able[0];
}

const isTaken = ({ spec, status }: ControlPlaneRegistration): boolean =>
  hasService(spec?.services, 'controllers') && isServed(status?.conditions);

/** While it leads nowhere, as when the control plane is not ready, whoever has it goes on with where it led last. */
function leadsTo(
  { metadata, status }: ControlPlaneRegistration,
  controlPlane: ControlPlane,
  before: string | undefined,
): boolean {
  const address = status?.resolvedEndpoint;
  if (!address) return metadata.name === before;
  const own = controlPlane.status?.endpoints ?? [];
  return isAtPath(address, clusterPathOf(controlPlane)) || own.some(({ url }) => isSameAddress(url, address));
}

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
