/**
 * Deletes the tenant by its current policy: Destroy deletes its data, Retain keeps them for the next tenant of this path. Reads from the
 * host itself, never from a cache: a tenant that is not claimed by this very control plane has another owner.
 */

import { find } from '@hangar/client';
import { ControlPlaneClass } from '../api/index.ts';
import type { DeletionPolicy } from '../api/index.ts';
import { isClaimedBy, policyByAnnotation } from '../control-plane/claim.ts';
import { deletionPolicyOf } from '../control-plane/steps/tenant.ts';
import type { Pass } from '../control-plane/world.ts';
import { Tenant } from '../host/index.ts';
import type { TenantObject } from '../host/index.ts';

/** Returns the policy that it followed; undefined when no Tenant of the control plane was left. */
export async function endTenant(pass: Pass): Promise<DeletionPolicy | undefined> {
  const { world, path, controlPlane, signal } = pass;
  const hostClient = world.host.client;
  const there = await find(hostClient, Tenant, { name: path }, { signal });
  if (!there || !isClaimedBy(there, controlPlane)) return undefined;
  const deletionPolicy = await lastPolicy(pass, there);
  let { uid, resourceVersion } = there.metadata;
  if (there.spec?.deletionPolicy !== deletionPolicy) {
    const body = { metadata: { uid, resourceVersion }, spec: { deletionPolicy } };
    const patched = await world.writes.make('tenant-policy', () =>
      hostClient.patch(Tenant, { name: path }, { type: 'merge', body }, { signal }),
    );
    ({ uid, resourceVersion } = patched.metadata);
  }
  // A concurrent change of the policy is a conflict, and the pass is repeated.
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
  await world.writes.make('tenant-delete', () => hostClient.delete(Tenant, { name: path }, { preconditions, signal }));
  return deletionPolicy;
}

/**
 * Returns the policy of a deleted class from the tenant, which records the policy and the class. The class is read from the server: a stale
 * cache must not destroy data that were to be retained.
 */
async function lastPolicy(pass: Pass, tenant: TenantObject): Promise<DeletionPolicy> {
  const { controlPlane, apiReader, signal } = pass;
  const { classRef, deletionPolicy } = controlPlane.spec ?? {};
  if (!classRef || deletionPolicy) return deletionPolicyOf(pass);
  const ofClass = await find(apiReader, ControlPlaneClass, { name: classRef.name }, { signal });
  if (ofClass) return deletionPolicyOf({ controlPlane, class: ofClass });
  const isOfClass = tenant.metadata.annotations?.[policyByAnnotation] === classRef.name;
  return (isOfClass ? tenant.spec?.deletionPolicy : undefined) ?? 'Retain';
}
