/**
 * What a tenant is known by, and knows its users by: the CA of its clients, the CA of its front proxy, the key of its
 * service-account tokens. Made when they are first needed, the same for all replicas, gone with the tenant.
 */

import { hash } from 'node:crypto';
import { notFound } from '@hangar/api';
import type { Clock, Random } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import { absent } from '@hangar/store';
import type { Entry, Revision, Store } from '@hangar/store';
import { isStale } from '../../objects/stale.ts';
import { identityKey, keysKey } from '../layout.ts';
import { tenantsName } from '../tenant.ts';
import { tenantAuthorityName } from './advertised-authority.ts';
import { decodeKeys, encodeKeys } from './encoding.ts';
import { pki } from './pki.ts';

export interface TenantKeys {
  /** Of its users' certificates. */
  readonly authority: KeyPair;
  /** By which aggregated API servers know this tenant's server. */
  readonly frontProxyAuthority: KeyPair;
  /** Signs the tokens of service accounts; PEM, P-256. */
  readonly serviceAccountKey: string;
}

export interface TenantKeysOptions extends KeyWorld {
  /** The one that seals secrets, and none with a fence of its own: a transaction names a key only once. */
  readonly store: Store;
  /** `/registry/clusters/<path>/`. */
  readonly prefix: string;
  readonly path: string;
  /** Of the tenant's identity: a tenant that was destroyed, or made anew in the meantime, gets no keys. */
  readonly identityRevision: Revision;
}

/** Nobody renews them: they are for the server alone, and go with the tenant. */
const authorityDays = 30 * 365;

/**
 * Those that were read or made last, by the digest of their encoding: to make a tenant, to issue its kubeconfig and to open it
 * takes them three times in a few milliseconds, and what is known of them, such as a parsed CA, goes with the object.
 */
const recent = new Map<string, TenantKeys>();
const recentMax = 64;

function remembered(value: Uint8Array, make: () => TenantKeys): TenantKeys {
  const digest = hash('sha256', value);
  const keys = recent.get(digest) ?? make();
  recent.delete(digest);
  recent.set(digest, keys);
  if (recent.size > recentMax) recent.delete(recent.keys().next().value!);
  return keys;
}

const keysOf = (value: Uint8Array): TenantKeys => remembered(value, () => decodeKeys(value));

type StoredKeysOptions = Pick<TenantKeysOptions, 'store' | 'prefix' | 'identityRevision'>;

/** For those who are not known yet: writes nothing. Undefined when nobody has made them, or the tenant has gone. */
export async function storedTenantKeys({
  store,
  prefix,
  identityRevision,
}: StoredKeysOptions): Promise<TenantKeys | undefined> {
  const { entry } = await store.get(keysKey(prefix));
  if (!entry) return undefined;
  const { entry: identity } = await store.get(identityKey(prefix));
  return identity?.modRevision === identityRevision ? keysOf(entry.value) : undefined;
}

/** Reads them, or makes them. Throws NotFound when the tenant has gone. */
export async function tenantKeys(options: TenantKeysOptions): Promise<TenantKeys> {
  const { store, prefix, path, identityRevision } = options;
  const { entry } = await store.get(keysKey(prefix));
  // After them: keys of a tenant that has taken the place of this one are not this one's.
  const { entry: identity } = await store.get(identityKey(prefix));
  if (identity?.modRevision !== identityRevision) throw notFound(tenantsName, path);
  if (!entry) return makeKeys(options);
  // That it could not be done is no reason to refuse: the store may be full, or not to be written to for now. The next one
  // who asks tries again.
  if (isStale(entry)) await renewSeal(options, entry).catch(() => {});
  return keysOf(entry.value);
}

export interface KeyWorld {
  readonly clock: Clock;
  readonly random: Random;
  /** Makes keys and signatures on the thread pool instead of the event loop. Not for virtual time. */
  readonly isPooled?: boolean;
}

export async function encodedNewKeys(path: string, world: KeyWorld): Promise<Buffer> {
  const keys = world.isPooled ? await pooledTenantKeys(path, world) : newTenantKeys(path, world);
  const value = encodeKeys(keys);
  remembered(value, () => keys);
  return value;
}

const frontProxyAuthorityName = (path: string): string => `hangar-${path}-front-proxy-ca`;

/** For a tenant that has none. */
export function newTenantKeys(path: string, world: KeyWorld): TenantKeys {
  const { createAuthority, newPrivateKey } = pki();
  return {
    authority: createAuthority(tenantAuthorityName, authorityDays, world),
    frontProxyAuthority: createAuthority(frontProxyAuthorityName(path), authorityDays, world),
    serviceAccountKey: newPrivateKey(),
  };
}

async function pooledTenantKeys(path: string, world: KeyWorld): Promise<TenantKeys> {
  const { createAuthority, newPrivateKey } = pki().pooled;
  const [authority, frontProxyAuthority, serviceAccountKey] = await Promise.all([
    createAuthority(tenantAuthorityName, authorityDays, world),
    createAuthority(frontProxyAuthorityName(path), authorityDays, world),
    newPrivateKey(),
  ]);
  return { authority, frontProxyAuthority, serviceAccountKey };
}

async function makeKeys({ store, prefix, path, identityRevision, ...world }: TenantKeysOptions): Promise<TenantKeys> {
  const value = await encodedNewKeys(path, world);
  const key = keysKey(prefix);
  const result = await store.commit([
    { type: 'put', key, value, expected: absent },
    { type: 'check', key: identityKey(prefix), expected: identityRevision },
  ]);
  if (result.committed) return keysOf(value);
  // Somebody else was faster: theirs count, if the tenant is still the same.
  const theirs = result.conflicts.find((conflict) => conflict.key === key)?.entry;
  if (result.conflicts.length > 1 || !theirs) throw notFound(tenantsName, path);
  return keysOf(theirs.value);
}

/** Written again as it is, it is sealed with the key that counts now. Whoever was faster has done the same. */
async function renewSeal({ store, prefix, identityRevision }: TenantKeysOptions, { key, value, modRevision }: Entry) {
  await store.commit([
    { type: 'put', key, value, expected: modRevision },
    { type: 'check', key: identityKey(prefix), expected: identityRevision },
  ]);
}
