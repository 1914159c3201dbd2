/**
 * Assigns the controllers of a tenant. While a registration for `controllers`, or the control plane's endpoint, has a condition
 * `ControllersReady` with any status, a controller manager runs the control plane: the Tenant is marked, and the essential controllers skip
 * it.
 * A registration counts only if it leads to that very tenant: it may be for a user's own cluster.
 *
 * The operator removes only a mark that it has set itself: a user may mark the Tenant permanently. Keyed by control plane.
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

/** Requires `addRegistrationIndexes` and the indexes of control planes first. */
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
      // Initially every control plane is reconciled anyway.
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

/** Returns the object that it is assigned to; the current one stays as long as it qualifies. Registrations precede endpoints. */
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

/** While it has no address, as when the control plane is not ready, its controller manager continues with the last one. */
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

/** Also true when the operator may not change it. */
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
