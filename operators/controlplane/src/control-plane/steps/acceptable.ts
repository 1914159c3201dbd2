/**
 * Step 1 of mode Virtual: whether the spec is possible at all. Nothing is written before this: an impossible control plane leaves no trace.
 *
 * The schema refuses bad paths already; objects that were stored before it did, or by a server without it, are refused here.
 */

import { find } from '@hangar/client';
import { claimOf, isClaimedBy, mayAdopt, taken } from '../claim.ts';
import { Tenant } from '../../host/index.ts';
import type { TenantObject } from '../../host/index.ts';
import type { Pass, Verdict } from '../world.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export async function acceptable({ controlPlane, path, world, signal }: Pass): Promise<Verdict | undefined> {
  if (path.length > 63 || !label.test(path) || path === 'root') {
    const why =
      path === 'root' ? 'it is reserved for the management plane' : 'it must be a DNS label of at most 63 characters';
    return refused(
      'InvalidClusterPath',
      `invalid cluster path "${path}": ${why}; create another ControlPlane with spec.virtual.clusterPath`,
    );
  }
  const known = await find(world.tenants.client, Tenant, { name: path }, { signal });
  const isOurs = (one: TenantObject): boolean => isClaimedBy(one, controlPlane) || mayAdopt(one, controlPlane);
  if (!known || isOurs(known)) return undefined;
  // Its owner may just have been deleted.
  const there = await find(world.host.client, Tenant, { name: path }, { signal });
  return there && !isOurs(there) ? taken(path, claimOf(there)) : undefined;
}

const refused = (reason: string, message: string): Verdict => ({ type: 'Accepted', reason, message });
