/** The content of a tenant for a replica: as its clients see it, without data of the server about the tenant. */

import { conflict } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { hiddenName, layeredStore, replicaDigest } from '@hangar/store';
import type { ReplicaDigest, Store } from '@hangar/store';
import { unconditionalAttemptsMax } from '../../limits.ts';
import type { Call } from '../../verbs/call.ts';
import { isInternalName } from '../backup/contents.ts';
import { restoring } from '../backup/replacement.ts';
import { baseOfTenant } from '../base/of-tenant.ts';
import { noBase } from '../base/with-entries.ts';
import { insistOnOwnData } from '../hold/refusals.ts';
import { baseRevisionOf, continuesView, decodeIdentity, fenceOf } from '../identity.ts';
import { tenantKeys } from '../keys/keys.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import { copyBase } from '../materialise.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantsName } from '../tenant.ts';
import { receivingOf } from './receiving-mark.ts';

/** Keys below the prefix of a tenant that a replica never has. */
export const isOmitted = (key: string): boolean => isInternalName(key) || key.startsWith(hiddenName);

/** Returns a view that stays valid during a hold, until other data replaces the content. Throws 409 if the tenant does not have its data. */
export async function replicaView(world: TenantWorld, { path, prefix, identity: entry }: AskedTenant): Promise<Store> {
  const { store, clock, random } = world;
  const identity = decodeIdentity(entry.value);
  if (identity.next) throw restoring(path);
  insistOnOwnData(path, identity);
  const keys = await tenantKeys({ store, prefix, path, identityRevision: entry.modRevision, clock, random });
  const base = identity.isMaterialised ? noBase : await baseOfTenant(world, { path, identity, keys });
  const own = fenceOf(entry);
  const continues = (value: Uint8Array): boolean => {
    const now = decodeIdentity(value);
    return !now.remote && continuesView(own, identity.seed, now);
  };
  return layeredStore({ store, prefix, base, baseRevision: baseRevisionOf(entry), fence: { ...own, continues } });
}

/**
 * Copies the base objects of a tenant into its range before its content is streamed, so that versions continue as they do in the replica. A
 * held tenant no longer changes.
 */
export async function withBaseCopied(world: TenantWorld, call: Call): Promise<AskedTenant> {
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const asked = await askedTenant(world, call);
    const { heldBy, isMaterialised, remote, next } = decodeIdentity(asked.identity.value);
    if (heldBy !== undefined || isMaterialised || remote || next) return asked;
    try {
      if (await copyBase(world, asked)) return asked;
    } catch (error) {
      if (!hasCode(error, 'Unsupported')) throw error;
      throw conflict(
        tenantsName,
        asked.path,
        'the store of this server cannot restore revisions, which a replica needs',
      );
    }
  }
  throw conflict(tenantsName, call.info.name, 'the tenant changed too often');
}

/** Returns the digest at the revision of the hold, of the received data of a Remote tenant, or at the newest revision. */
export async function contentDigest(
  world: TenantWorld,
  asked: AskedTenant,
  signal: AbortSignal,
): Promise<ReplicaDigest> {
  const { store, clock } = world;
  const { path, prefix, identity: entry } = asked;
  const { remote, heldBy } = decodeIdentity(entry.value);
  const options = { prefix, omits: isOmitted, signal, clock };
  if (!remote) {
    const at = heldBy === undefined ? undefined : entry.modRevision;
    return replicaDigest(await replicaView(world, asked), { ...options, at });
  }
  const receiving = await receivingOf(store, prefix);
  if (!receiving || receiving.isDeleting) throw conflict(tenantsName, path, 'the tenant does not receive data');
  return { ...(await replicaDigest(store, options)), revision: receiving.revision };
}
