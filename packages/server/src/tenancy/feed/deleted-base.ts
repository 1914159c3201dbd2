/**
 * Returns the last state of a base object that a tenant deleted. The store only contains a tombstone, so the object is rendered from the
 * tenant's identity, as clients saw it.
 */

import type { Entry, Revision } from '@hangar/store';
import { baseEntry } from '../wildcard/changes.ts';
import { Foundations } from '../wildcard/foundations.ts';
import type { FoundationsWorld } from '../wildcard/foundations.ts';
import { placeOf } from '../wildcard/place.ts';
import type { TenantBase } from '../base/base.ts';

export interface DeletedBaseWorld extends FoundationsWorld {
  readonly base: () => Promise<TenantBase>;
}

export interface DeletedKey {
  readonly cluster: string;
  /** Below the control plane's prefix: `namespaces/kube-public`. */
  readonly rest: string;
  readonly at: Revision;
}

/** Returns undefined if the base has no such object, or the tenant has no base. */
export async function deletedBaseEntry(
  world: DeletedBaseWorld,
  { cluster, rest, at }: DeletedKey,
): Promise<Entry | undefined> {
  const place = placeOf(rest.slice(0, rest.lastIndexOf('/')));
  const foundations = new Foundations(world, await world.base(), place);
  const records = await foundations.recordsOfTenant(cluster, at);
  return baseEntry({ prefix: foundations.prefixOf(cluster), foundation: foundations.of(cluster, records) }, rest);
}
