/**
 * The built-in provider of endpoints: fills the status of those that are labelled for it. The steps are in README.md. It creates no other
 * objects, so nothing has to be cleaned up.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { controllerOf, labelled, matching, setConditions, writeStatus } from '@hangar/runtime';
import type { Cache, ControllerOptions, NewCondition, Predicate, Reconciler } from '@hangar/runtime';
import {
  annotations,
  builtinProvider,
  clusterPathOf,
  ControlPlane,
  ControlPlaneEndpoint,
  group,
  labels,
} from '../api/index.ts';
import type { ControlPlaneEndpointStatus } from '../api/index.ts';
import type { TenantHost } from '../host/index.ts';
import { builtinAddresses } from './builtin.ts';

export interface EndpointWorld {
  readonly host: Pick<TenantHost, 'internalUrl' | 'externalUrl'>;
  readonly clock: Clock;
}

const byOwner = 'endpoints-of-control-plane';

/** Requires `addEndpointIndex` first. */
export const endpointController = (
  world: EndpointWorld,
): ControllerOptions<ControlPlaneEndpoint, [], [ControlPlane]> => ({
  name: 'controlplaneendpoint',
  for: { kind: ControlPlaneEndpoint, where: isOurs },
  watches: [
    {
      kind: ControlPlane,
      where: comesAndGoes,
      map: ({ metadata }, { cache }) =>
        Array.from(cache.informer(ControlPlaneEndpoint).byIndex(byOwner, metadata.name!), (endpoint) => ({
          name: endpoint.metadata.name!,
        })),
    },
  ],
  reconcile: endpointReconciler(world),
});

/** Called before the controller is added. */
export const addEndpointIndex = (cache: Pick<Cache, 'addIndex'>): void =>
  cache.addIndex(ControlPlaneEndpoint, byOwner, (endpoint) => [ownerOf(endpoint)?.name ?? '']);

const isOurs = labelled({ [labels.endpointProvider]: builtinProvider }) as Predicate<ControlPlaneEndpoint>;

/** An endpoint needs only the path of its control plane, which is immutable. */
const comesAndGoes: Predicate<ControlPlane> = { ...matching<ControlPlane>(() => true), update: () => false };

export const endpointReconciler =
  (world: EndpointWorld): Reconciler =>
  async ({ name }, { client, signal }) => {
    const endpoint = await find(client, ControlPlaneEndpoint, { name });
    if (!endpoint || endpoint.metadata.deletionTimestamp) return;
    if (endpoint.metadata.labels?.[labels.endpointProvider] !== builtinProvider) return;
    const status = statusOf(endpoint, await ownedBy(client, endpoint), world);
    await writeStatus(client, { kind: ControlPlaneEndpoint, object: endpoint, status, signal });
  };

/** Undefined: it has no owner, or one that was recreated since. */
async function ownedBy(client: Client, endpoint: ControlPlaneEndpoint): Promise<ControlPlane | undefined> {
  const owner = ownerOf(endpoint);
  if (!owner) return undefined;
  const found = await find(client, ControlPlane, { name: owner.name });
  return found?.metadata.uid === owner.uid ? found : undefined;
}

const types = ['Accepted', 'Programmed', 'Ready'] as const;

function statusOf(
  { metadata, status }: ControlPlaneEndpoint,
  owner: ControlPlane | undefined,
  { host, clock }: EndpointWorld,
): ControlPlaneEndpointStatus {
  const { generation: observedGeneration = 0 } = metadata;
  const after = (all: readonly NewCondition[]) =>
    setConditions(
      status?.conditions,
      all.map((one) => ({ ...one, observedGeneration })),
      clock,
    );
  if (!owner) {
    const { endpoint: _, externalEndpoint: __, joinEndpoint: ___, ...others } = status ?? {};
    const message =
      'no ControlPlane owns this endpoint, so its cluster path is unknown: delete the endpoint, or set spec.endpoint';
    const refused = types.map((type) => ({ type, status: false, reason: 'OwnerMissing', message }));
    return { ...others, observedGeneration, conditions: after(refused) };
  }
  const { internalUrl, externalUrl } = host;
  const hostname = metadata.annotations?.[annotations.hostname];
  const addresses = builtinAddresses({ internalUrl, externalUrl, clusterPath: clusterPathOf(owner), hostname });
  const { joinEndpoint: _, ...others } = status ?? {};
  const done = types.map((type) => ({ type, status: true, reason: type }));
  return { ...others, ...addresses, observedGeneration, conditions: after(done) };
}

function ownerOf(endpoint: ControlPlaneEndpoint): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(endpoint);
  return owner?.kind === 'ControlPlane' && owner.apiVersion.startsWith(`${group}/`) ? owner : undefined;
}
