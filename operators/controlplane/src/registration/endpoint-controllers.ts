/**
 * Which control plane an endpoint's `ControllersReady` is about: the one that it was allocated for, or the only one that names it. One that
 * several name says of none of them that its controllers are run: a controller manager has one kubeconfig for an endpoint.
 */

import { controllerOf, findCondition } from '@hangar/runtime';
import type { Cache, RequestLike } from '@hangar/runtime';
import { annotations, ControlPlane, ControlPlaneEndpoint, controllersReady } from '../api/index.ts';
import { byEndpoint } from '../control-plane/indexes.ts';
import { Tenant } from '../host/index.ts';
import type { TenantObject } from '../host/index.ts';
import { hasService } from './services.ts';

type Informers = Pick<Cache, 'informer'>;

const byMark = 'tenants-by-who-runs-controllers';
const markPrefix = 'endpoint/';

/** As Tenants are marked; registrations by their name alone, which has no slash. */
export const endpointMark = (name: string): string => `${markPrefix}${name}`;

/** Of the host's Tenants, before the controllers. */
export const addMarkIndex = (tenants: Pick<Cache, 'addIndex'>): void =>
  tenants.addIndex(Tenant, byMark, ({ metadata }) => {
    const mark = metadata.annotations?.[annotations.controllersBy];
    return mark?.startsWith(markPrefix) ? [mark] : [];
  });

/** The mark, when a controller manager has the control plane by its endpoint. */
export function markOfEndpoint(cache: Informers, controlPlane: ControlPlane): string | undefined {
  const name = endpointOf(controlPlane);
  const endpoint = cache.informer(ControlPlaneEndpoint).get({ name });
  if (!endpoint || !isTaken(endpoint)) return undefined;
  const owner = controllerOf(endpoint);
  const isAbout = owner
    ? owner.uid === controlPlane.metadata.uid
    : controlPlane.spec?.endpointRef !== undefined && namers(cache, name).length === 1;
  return isAbout ? endpointMark(name) : undefined;
}

/** Control planes that an endpoint may be about. */
export const requestsOfEndpoint = ({ metadata }: ControlPlaneEndpoint, cache: Informers): RequestLike[] =>
  usersOf(cache, metadata.name!).map(requestOf);

/** When a control plane comes, goes, or names another endpoint: who has the endpoint may lose it, and who is alone with it now has it. */
export function requestsOfNeighbours(controlPlane: ControlPlane, cache: Informers, tenants: Informers): RequestLike[] {
  const name = endpointOf(controlPlane);
  const alone = namers(cache, name);
  const marked = tenants.informer(Tenant).byIndex(byMark, endpointMark(name));
  return [...(alone.length === 1 ? alone.map(requestOf) : []), ...Array.from(marked, ownerOf)];
}

/** That it names, or that is allocated for it. */
export const endpointOf = ({ metadata, spec }: ControlPlane): string => spec?.endpointRef?.name ?? metadata.name!;

const usersOf = (cache: Informers, endpoint: string): ControlPlane[] =>
  Array.from(cache.informer(ControlPlane).byIndex(byEndpoint.name, endpoint));

const namers = (cache: Informers, endpoint: string): ControlPlane[] =>
  usersOf(cache, endpoint).filter(({ spec }) => spec?.endpointRef?.name === endpoint);

/** Its services are those of its annotation or label; absent: controllers. */
function isTaken({ metadata, status }: ControlPlaneEndpoint): boolean {
  const said = metadata.annotations?.[annotations.services] ?? metadata.labels?.[annotations.services];
  const services = said?.split(',').map((one) => one.trim());
  if (services && !hasService(services, 'controllers')) return false;
  return findCondition(status?.conditions, controllersReady) !== undefined;
}

const requestOf = ({ metadata }: ControlPlane): RequestLike => ({ name: metadata.name! });

const ownerOf = ({ metadata }: TenantObject): RequestLike => ({ name: metadata.annotations?.[annotations.name] ?? '' });
