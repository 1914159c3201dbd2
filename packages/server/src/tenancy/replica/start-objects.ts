/** Prepares a tenant for a replica with a kube-apiserver, which cannot write before the switch of a migration. */

import { openControlPlane } from '../../open-control-plane.ts';
import { baseOfTenant } from '../base/of-tenant.ts';
import { decodeIdentity } from '../identity.ts';
import { tenantKeys } from '../keys/keys.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { replicaView } from './replica-view.ts';

/**
 * Creates and corrects the objects without which a kube-apiserver does not start. Writes nothing if they exist. A held or Remote tenant is not
 * changed.
 */
export async function ensureStartObjects(world: TenantWorld, asked: AskedTenant): Promise<void> {
  const { store, storePrefix, clock, random, outbound } = world;
  const { path, prefix } = asked;
  const identity = decodeIdentity(asked.identity.value);
  if (identity.heldBy !== undefined || identity.remote || identity.next) return;
  const identityRevision = asked.identity.modRevision;
  const keys = await tenantKeys({ store, prefix, path, identityRevision, clock, random });
  const base = await baseOfTenant(world, { path, identity, keys });
  const view = await replicaView(world, asked);
  const { plane, close } = await openControlPlane({
    name: path,
    prefix: storePrefix,
    store: view,
    clock,
    random,
    outbound,
  });
  try {
    const { ensureKubeApiServerStart } = await import('../../bootstrap/kube-apiserver-start.ts');
    await ensureKubeApiServerStart(plane, base);
  } finally {
    close();
  }
}
