/** The signing keys of the controllers: of the management plane from the data directory, of tenants from the server, cached for a while. */

import type { Client } from '@hangar/client';
import type { ClusterKeys } from '@hangar/controllers';
import { Tenant } from '@hangar/controlplane-operator';
import type { TenantObject } from '@hangar/controlplane-operator';
import { withOwnAuthority } from '@hangar/server';
import type { Inside } from '../compose/inside.ts';
import { rootName } from './clients.ts';

export interface KeysOptions {
  readonly inside: Pick<Inside, 'keys' | 'servingCa' | 'url' | 'tenancy'>;
  /** Of the management plane. */
  readonly client: Client;
}

interface TenantKeys {
  readonly status: {
    readonly authority: { readonly certificate: string; readonly key: string };
    readonly serviceAccountKey: string;
    readonly serviceAccountIssuer: string;
  };
}

interface Known {
  readonly keys: Promise<TenantKeys['status']>;
  /** Uid of the tenant: a later tenant of the same name has other keys. */
  readonly uid: string | undefined;
}

const knownMax = 128;

/** Rejects with `NotFound` when the tenant was deleted. */
export function keysOf({ inside, client }: KeysOptions): (cluster: string) => Promise<ClusterKeys> {
  const known = new Map<string, Known>();
  const ask = async (name: string): Promise<TenantKeys['status']> =>
    (await client.subresource('keys').create<TenantKeys, TenantObject>(Tenant, { name }, {})).status;
  const tenantKeys = (path: string): Promise<TenantKeys['status']> => {
    const uid = inside.tenancy.tenants.find(path)?.uid;
    let found = known.get(path);
    known.delete(path);
    if (!found || found.uid !== uid) {
      found = { keys: ask(path), uid };
      const asked = found;
      // The next caller retries.
      asked.keys.catch(() => known.get(path) === asked && known.delete(path));
    }
    known.set(path, found);
    if (known.size > knownMax) known.delete(known.keys().next().value!);
    return found.keys;
  };
  return async (cluster) => {
    const platformCa = inside.servingCa();
    if (cluster === rootName) return { ...inside.keys(), servingCa: platformCa, url: inside.url };
    const { authority, serviceAccountKey, serviceAccountIssuer } = await tenantKeys(cluster);
    const hasPort = inside.tenancy.tenants.find(cluster)?.port !== undefined;
    const servingCa = hasPort ? withOwnAuthority({ authority }, platformCa) : platformCa;
    // Tokens of tenants name the address of the tenant.
    return { authority, serviceAccountKey, serviceAccountIssuer, servingCa, url: serviceAccountIssuer };
  };
}
