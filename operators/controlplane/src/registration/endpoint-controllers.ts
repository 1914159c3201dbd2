/**
 * Determines the control plane of an endpoint's `ControllersReady`: the one that it was allocated for, or the only one that names it. The
 * first control plane keeps it when others name it, too: otherwise any user could start two managers for it. Several newcomers get none: a
 * controller manager has one kubeconfig for an endpoint.
 */

import { controllerOf } from '@hangar/runtime';
import type { Cache, RequestLike } from '@hangar/runtime';
import { endpointServices } from '@hangar/runtime/clusters';
import { ControlPlane, ControlPlaneEndpoint } from '../api/index.ts';
import { byEndpoint } from '../control-plane/indexes.ts';
import { hasService } from './services.ts';
import { isServed } from './served.ts';

type Informers = Pick<Cache, 'informer'>;

/** The annotation of Tenants; a registration is marked by its name alone, which has no slash. */
export const endpointMark = (name: string): string => `endpoint/${name}`;

/** Returns the mark, when a controller manager runs the control plane by its endpoint. `before`: the current mark of its Tenant. */
export function markOfEndpoint(
  cache: Informers,
  controlPlane: ControlPlane,
  before: string | undefined,
): string | undefined {
  const name = endpointOf(controlPlane);
  const endpoint = cache.informer(ControlPlaneEndpoint).get({ name });
  if (!endpoint || !isTaken(endpoint)) return undefined;
  const mark = endpointMark(name);
  const owner = controllerOf(endpoint);
  const isAbout = owner
    ? owner.uid === controlPlane.metadata.uid
    : controlPlane.spec?.endpointRef !== undefined && (before === mark || namers(cache, name).length === 1);
  return isAbout ? mark : undefined;
}

/** Control planes that an endpoint may be about. */
export const requestsOfEndpoint = ({ metadata }: ControlPlaneEndpoint, cache: Informers): RequestLike[] =>
  usersOf(cache, metadata.name!).map(requestOf);

/** When a control plane is created, deleted, or names another endpoint: the control planes that share the endpoint. */
export function requestsOfNeighbours(controlPlane: ControlPlane, cache: Informers): RequestLike[] {
  const all = namers(cache, endpointOf(controlPlane));
  return all.length === 1 ? all.map(requestOf) : [];
}

/** Returns the endpoint that it names, or that is allocated for it. */
export const endpointOf = ({ metadata, spec }: ControlPlane): string => spec?.endpointRef?.name ?? metadata.name!;

const usersOf = (cache: Informers, endpoint: string): ControlPlane[] =>
  Array.from(cache.informer(ControlPlane).byIndex(byEndpoint.name, endpoint));

const namers = (cache: Informers, endpoint: string): ControlPlane[] =>
  usersOf(cache, endpoint).filter(({ spec }) => spec?.endpointRef?.name === endpoint);

const isTaken = (endpoint: ControlPlaneEndpoint): boolean =>
  hasService(endpointServices(endpoint), 'controllers') && isServed(endpoint.status?.conditions);

const requestOf = ({ metadata }: ControlPlane): RequestLike => ({ name: metadata.name! });
