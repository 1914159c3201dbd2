/**
 * Step 7: the route that leads a control plane's host name from the Gateway of its class to the API server. Problems are reported in the
 * condition GatewayProgrammed only: a control plane without a host name may be reachable by path.
 */

import { find } from '@hangar/client';
import type { Kind } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { asError } from '@hangar/core';
import { controllerReference, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { builtinProvider } from '../api/index.ts';
import { hostnameOf } from '../control-plane/hostname.ts';
import { hostsOf } from '../control-plane/hosts.ts';
import { isPassing } from '../control-plane/passing.ts';
import type { Pass, Remark } from '../control-plane/world.ts';
import { acceptanceOf } from './acceptance.ts';
import { definitionName, servedRoute } from './tls-route.ts';
import type { TlsRoute } from './tls-route.ts';
import { isAsWanted, notAllowedText, wantedRoute } from './wanted-route.ts';
import type { WantedRoute } from './wanted-route.ts';

export const gatewayProgrammed = 'GatewayProgrammed';

export async function gateway(pass: Pass): Promise<undefined> {
  if (isMoving(pass)) return undefined;
  try {
    const said = await programmed(pass);
    if (said) pass.remarks.push({ type: gatewayProgrammed, ...said });
    else pass.withdrawn.push(gatewayProgrammed);
  } catch (error) {
    if (isPassing(error) || pass.signal.aborted) throw error;
    const message = `failed to write the TLSRoute, retrying: ${asError(error).message}`;
    pass.remarks.push({ type: gatewayProgrammed, status: false, reason: 'RouteWriteFailed', message });
  }
}

/** Reports whether it was given another host name that its endpoint does not have yet: until then the old route leads to it. */
function isMoving({ controlPlane, class: ofClass, addresses }: Pass): boolean {
  const { endpointRef, endpointPolicy } = controlPlane.spec ?? {};
  if (endpointRef || (endpointPolicy?.provider ?? builtinProvider) !== builtinProvider) return false;
  const hostname = hostnameOf(controlPlane, ofClass);
  return hostname !== undefined && !hostsOf(addresses!).includes(hostname);
}

type Said = Omit<Remark, 'type'>;

/** Undefined: the class has no Gateway. */
async function programmed(pass: Pass): Promise<Said | undefined> {
  const wanted = wantedRoute(pass);
  const route = wanted && 'key' in wanted ? wanted : undefined;
  const definition = await find(
    pass.client,
    CustomResourceDefinition,
    { name: definitionName },
    { signal: pass.signal },
  );
  const kind = servedRoute(definition);
  if (kind) await endOthers(pass, kind, route);
  if (!wanted) return undefined;
  if (!kind) {
    const message = `CustomResourceDefinition "${definitionName}" not found: install the Gateway API with TLSRoute, or remove spec.gateway.parentRef from the class`;
    return { status: false, reason: 'GatewayAPIMissing', message, isAwaited: true };
  }
  if (!route) return { status: false, isAwaited: true, ...(wanted as Exclude<typeof wanted, WantedRoute>) };
  return kept(pass, kind, route);
}

/** Deletes the routes of an earlier class, host name or namespace. */
async function endOthers(pass: Pass, kind: Kind<TlsRoute>, wanted: WantedRoute | undefined): Promise<void> {
  const { client, controlPlane, world, signal } = pass;
  const others = world.routes.of(controlPlane).filter((one) => !wanted || !isAt(one, wanted));
  for (const { metadata } of others.filter((one) => !isBeingDeleted(one))) {
    const key = { namespace: metadata.namespace!, name: metadata.name! };
    const preconditions = { uid: metadata.uid! };
    await world.writes.make('route-release', () => client.delete(kind, key, { preconditions, signal }));
  }
}

const isAt = ({ metadata }: TlsRoute, { key }: WantedRoute): boolean =>
  metadata.namespace === key.namespace && metadata.name === key.name;

async function kept(pass: Pass, kind: Kind<TlsRoute>, wanted: WantedRoute): Promise<Said> {
  const { controlPlane, apiReader, world, signal } = pass;
  const { namespace, name } = wanted.key;
  const known = world.routes.of(controlPlane).find((one) => isAt(one, wanted));
  // A route without our label, or a new one, is not in the cache.
  const there = known ?? (await find(apiReader, kind, wanted.key, { signal })) ?? (await create(pass, kind, wanted));
  if (!isControlledBy(there, controlPlane)) {
    const message = `TLSRoute "${namespace}/${name}" already exists and does not belong to this control plane: delete or rename it`;
    return { status: false, reason: 'RouteConflict', message };
  }
  if (isBeingDeleted(there)) {
    const message = `waiting for the deletion of TLSRoute "${namespace}/${name}" before creating it again`;
    return { status: false, reason: 'RouteNotAccepted', message, isAwaited: true };
  }
  const route = isAsWanted(there, wanted) ? there : await putRight(pass, kind, there, wanted);
  const acceptance = acceptanceOf(route, wanted.parent);
  if (wanted.notAllowed.length === 0) return { ...acceptance, isAwaited: true };
  const message = `${notAllowedText(wanted.notAllowed, pass.class!)}; for the other host names: ${acceptance.message}`;
  return { status: false, reason: 'HostnameNotAllowed', message, isAwaited: true };
}

/** Rejects with `AlreadyExists` after a concurrent creation: then the pass is repeated. */
function create(pass: Pass, kind: Kind<TlsRoute>, wanted: WantedRoute): Promise<TlsRoute> {
  const { client, controlPlane, world, signal } = pass;
  const { key, labels, spec } = wanted;
  const metadata = { ...key, labels: { ...labels }, ownerReferences: [controllerReference(controlPlane)] };
  return world.writes.make('route', () => client.create(kind, { metadata, spec }, { signal }));
}

/** Replaces whole lists. Rejects with `Conflict` after a concurrent change. */
function putRight(pass: Pass, kind: Kind<TlsRoute>, there: TlsRoute, wanted: WantedRoute): Promise<TlsRoute> {
  const { client, world, signal } = pass;
  const { uid, resourceVersion } = there.metadata;
  const body = { metadata: { uid, resourceVersion, labels: wanted.labels }, spec: wanted.spec };
  return world.writes.make('route-wish', () => client.patch(kind, wanted.key, { type: 'merge', body }, { signal }));
}
