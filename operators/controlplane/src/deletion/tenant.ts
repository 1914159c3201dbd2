/**
 * The tenant goes as the policy of this moment says: Destroy takes its data with it, Retain leaves them for the next one of this path.
 * It is asked for at the host itself, never of a cache: what is not claimed by this very control plane is somebody else's.
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
  // Whoever changes the policy in between is heard: then this is a conflict, and looked at again.
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
  await world.writes.make('tenant-delete', () => hostClient.delete(Tenant, { name: path }, { preconditions, signal }));
  return deletionPolicy;
}

/**
 * A class that is gone said something while it was there: the tenant still says it, and that it was this class's word. The class is asked
 * for at the server: a cache that is behind must not destroy what was to be retained.
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
