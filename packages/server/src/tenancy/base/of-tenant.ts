/** All initial objects of a tenant: the shared base, and the objects derived from its own keys. */

import type { Base } from '@hangar/store';
import type { TenantIdentity } from '../identity.ts';
import type { TenantKeys } from '../keys/keys.ts';
import type { TenantBase } from './base.ts';
import { tenantConfigMaps } from './own-config-maps.ts';
import type { MadeEntries } from './with-entries.ts';
import { withEntries } from './with-entries.ts';

export interface BornTenant {
  readonly path: string;
  readonly identity: TenantIdentity;
  readonly keys: TenantKeys;
}

export interface BaseWorld {
  readonly base: () => Promise<TenantBase>;
  /** Returns the URL of the control plane with this path. */
  readonly url: (path: string) => string;
  /** CA of the certificates that the port serves; PEM. */
  readonly servingCa: () => string;
  /** Reports whether nodes can join the control plane with this path. */
  readonly hasNodes: (path: string) => boolean;
}

export async function baseOfTenant(world: BaseWorld, tenant: BornTenant): Promise<Base> {
  const base = await world.base();
  return withEntries(base.layer(tenant.identity), entriesOfTenant({ ...world, base }, tenant));
}

export interface EntriesWorld extends Omit<BaseWorld, 'base'> {
  readonly base: Pick<TenantBase, 'hasAccounts'>;
}

/** Pods connect to the port of the tenant, whose certificate the CA of the tenant issues, or to the address of the server. */
export const withOwnAuthority = ({ authority }: Pick<TenantKeys, 'authority'>, servingCa: string): string =>
  `${authority.certificate}${servingCa}`;

export const entriesOfTenant = (world: EntriesWorld, { path, identity, keys }: BornTenant): MadeEntries =>
  tenantConfigMaps({
    identity,
    keys,
    url: world.url(path),
    servingCa: world.servingCa(),
    rootCa: world.hasNodes(path) ? withOwnAuthority(keys, world.servingCa()) : world.servingCa(),
    hasRootCa: world.base.hasAccounts,
  });
