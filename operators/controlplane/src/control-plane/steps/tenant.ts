/**
 * Step 6: the Tenant on the host: claimed by creating it with this control plane's uid, then kept up to date. Writes the deletion policy,
 * our host names, the settings for nodes and the external users; leaves quota, suspension and the host names of others as they are.
 */

import { isDeepStrictEqual } from 'node:util';
import { find } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { isBeingDeleted } from '@hangar/runtime';
import type { DeletionPolicy } from '../../api/index.ts';
import { Tenant } from '../../host/index.ts';
import type { TenantObject } from '../../host/index.ts';
import { authenticationOf } from '../authentication.ts';
import {
  adoptByAnnotation,
  claimAnnotations,
  claimOf,
  hostsAnnotation,
  isClaimedBy,
  mayAdopt,
  policyByAnnotation,
  taken,
} from '../claim.ts';
import { hostsOf, isOfHost } from '../hosts.ts';
import { accessOf, nodesOf } from '../nodes.ts';
import { tenantPlane } from '../tenant-plane.ts';
import type { Pass, Verdict } from '../world.ts';

const rejectedLookMs = 30_000;

export async function tenant(pass: Pass): Promise<Verdict | undefined> {
  const { world, path, controlPlane, signal } = pass;
  const own = hostsOf(pass.addresses!).find((host) => isOfHost(world.host, host));
  if (own !== undefined) return programming('HostnameRejected', `host name "${own}" is reserved for the platform`);
  const known = await find(world.tenants.client, Tenant, { name: path }, { signal });
  try {
    const found = known ?? (await claim(pass)) ?? (await world.host.client.get(Tenant, { name: path }, { signal }));
    const there = mayAdopt(found, controlPlane) ? await adopt(pass, found) : found;
    if (!isClaimedBy(there, controlPlane)) return taken(path, claimOf(there));
    if (isBeingDeleted(there)) {
      return programming('TenantTerminating', `waiting for the deletion of Tenant "${path}" before creating it again`);
    }
    const current = await kept(pass, there);
    pass.plane = tenantPlane(pass, current);
    const nodes = nodesOf(pass) && accessOf(current);
    if (nodes) {
      pass.nodes = nodes;
      pass.isJoinWanted = true;
    }
    remarkPort(pass, current.status?.nodes?.problem);
    return undefined;
  } catch (error) {
    // The server's message names the field and the reason.
    if (!hasCode(error, 'Invalid')) throw error;
    return {
      ...programming(rejectionOf(error.message), `the host rejected Tenant "${path}": ${error.message}`),
      lookAgainMs: rejectedLookMs,
    };
  }
}

const rejectionOf = (message: string): string =>
  message.includes('spec.authentication')
    ? 'AuthenticationRejected'
    : message.includes('spec.nodes')
      ? 'NodesRejected'
      : message.includes('spec.retainedData')
        ? 'RetainedDataConflict'
        : 'HostnameRejected';

const nodesReachable = 'NodesReachable';

/** The server reports when it has opened the port. */
function remarkPort({ remarks, withdrawn }: Pass, message: string | undefined): void {
  if (message === undefined) withdrawn.push(nodesReachable);
  else remarks.push({ type: nodesReachable, status: false, reason: 'PortUnavailable', message, isAwaited: true });
}

const programming = (reason: string, message: string): Verdict => ({ type: 'Programmed', reason, message });

/** By spec, then class. The default retains the data. */
export const deletionPolicyOf = ({
  controlPlane,
  class: ofClass,
}: Pick<Pass, 'controlPlane' | 'class'>): DeletionPolicy =>
  controlPlane.spec?.deletionPolicy ?? ofClass?.spec?.deletionPolicy ?? 'Retain';

/** Returns the class that sets it; undefined: the control plane itself, or the default. */
const policyBy = ({ controlPlane, class: ofClass }: Pass): string | undefined =>
  controlPlane.spec?.deletionPolicy || !ofClass?.spec?.deletionPolicy ? undefined : ofClass.metadata.name!;

/** Undefined: another client created it first. */
async function claim(pass: Pass): Promise<TenantObject | undefined> {
  const { world, path, controlPlane, addresses, signal } = pass;
  const hosts = hostsOf(addresses!);
  const annotations = {
    ...claimAnnotations(controlPlane),
    ...(hosts.length > 0 ? { [hostsAnnotation]: hosts.join(',') } : {}),
    ...(policyBy(pass) === undefined ? {} : { [policyByAnnotation]: policyBy(pass)! }),
  };
  const nodes = nodesOf(pass);
  const authentication = authenticationOf(pass);
  const spec = {
    deletionPolicy: deletionPolicyOf(pass),
    ...(controlPlane.spec?.retainedData === 'Refuse' ? { retainedData: 'Refuse' as const } : {}),
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(nodes ? { nodes } : {}),
    ...(authentication ? { authentication } : {}),
  };
  try {
    return await world.writes.make('tenant', () =>
      world.host.client.create(Tenant, { metadata: { name: path, annotations }, spec }, { signal }),
    );
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) return undefined;
    throw error;
  }
}

/** Claims a tenant by its annotation. Rejects with `Conflict` after a concurrent change: then the pass is repeated. */
async function adopt({ world, path, controlPlane, signal }: Pass, { metadata }: TenantObject): Promise<TenantObject> {
  const { uid, resourceVersion } = metadata;
  const annotations = { ...claimAnnotations(controlPlane), [adoptByAnnotation]: null };
  const body = { metadata: { uid, resourceVersion, annotations } };
  return world.writes.make('adoption', () =>
    world.host.client.patch(Tenant, { name: path }, { type: 'merge', body }, { signal }),
  );
}

async function kept(pass: Pass, there: TenantObject): Promise<TenantObject> {
  const { world, path, addresses, signal } = pass;
  const ours = hostsOf(addresses!);
  const before = (there.metadata.annotations?.[hostsAnnotation] ?? '').split(',').filter((host) => host !== '');
  const foreign = (there.spec?.hosts ?? []).filter((host) => !before.includes(host));
  const hosts = [...new Set([...foreign, ...ours])];
  const deletionPolicy = deletionPolicyOf(pass);
  const isSamePolicy =
    there.spec?.deletionPolicy === deletionPolicy &&
    there.metadata.annotations?.[policyByAnnotation] === policyBy(pass);
  const nodes = nodesOf(pass);
  const authentication = authenticationOf(pass);
  const isSame =
    isSamePolicy &&
    isDeepStrictEqual(before, ours) &&
    isDeepStrictEqual(there.spec?.nodes, nodes) &&
    isDeepStrictEqual(there.spec?.authentication, authentication);
  if (isSame && ours.every((host) => there.spec?.hosts?.includes(host))) return there;
  const { uid, resourceVersion } = there.metadata;
  const body = {
    metadata: {
      uid,
      resourceVersion,
      annotations: {
        [hostsAnnotation]: ours.length > 0 ? ours.join(',') : null,
        [policyByAnnotation]: policyBy(pass) ?? null,
      },
    },
    spec: {
      deletionPolicy,
      hosts: hosts.length > 0 ? hosts : null,
      nodes: nodes ? { enabled: true, networks: nodes.networks ?? null } : null,
      authentication: authentication ?? null,
    },
  };
  return world.writes.make('tenant-wish', () =>
    world.host.client.patch(Tenant, { name: path }, { type: 'merge', body }, { signal }),
  );
}
