/** Looks up the tenant of a subresource request: its object and its identity, or 404. */

import { notFound } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { objectKey } from '../../control-plane.ts';
import { groupResource } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';

export interface AskedTenant {
  readonly path: string;
  /** `/registry/clusters/<path>/`. */
  readonly prefix: string;
  /** Entry of the `Tenant` object. */
  readonly entry: Entry;
  /** Entry of the identity. */
  readonly identity: Entry;
}

/** Throws 404, also for retained data without an object. */
export async function askedTenant({ store, storePrefix }: TenantWorld, call: Call): Promise<AskedTenant> {
  const { info, plane, resource } = call;
  const path = info.name;
  const { entry } = await plane.store.get(objectKey(plane, resource, '', path));
  const prefix = tenantPrefix(storePrefix, path);
  const identity = entry && (await store.get(identityKey(prefix))).entry;
  if (!entry || !identity) throw notFound(groupResource(call), path);
  return { path, prefix, entry, identity };
}
