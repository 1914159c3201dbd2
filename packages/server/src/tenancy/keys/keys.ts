/**
 * Keys of a tenant: the CA of its clients, the CA of its front proxy, and the key of its service account tokens. They are created at first
 * use, shared by all replicas, and deleted with the tenant.
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
  /** CA of client certificates. */
  readonly authority: KeyPair;
  /** CA by which aggregated API servers authenticate this tenant's server. */
  readonly frontProxyAuthority: KeyPair;
  /** Signs the tokens of service accounts; PEM, P-256. */
  readonly serviceAccountKey: string;
}

export interface TenantKeysOptions extends KeyWorld {
  /** The store that encrypts Secrets, without a fence: a transaction names a key only once. */
  readonly store: Store;
  /** `/registry/clusters/<path>/`. */
  readonly prefix: string;
  readonly path: string;
  /** Revision of the tenant's identity: a tenant that was destroyed or recreated meanwhile gets no keys. */
  readonly identityRevision: Revision;
}

/** The CAs are never renewed: only the server uses them, and they are deleted with the tenant. */
const authorityDays = 30 * 365;

/**
 * The keys that were read or created last, by the digest of their encoding. Creating a tenant, issuing its kubeconfig and opening it use
 * them three times within a few milliseconds, and caches derived from them, such as a parsed CA, are attached to the object.
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

/**
 * For clients that are not authenticated yet: never writes. Returns undefined if the keys were not created yet, or the tenant was deleted.
 */
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

/** Reads or creates the keys. Throws NotFound if the tenant was deleted. */
export async function tenantKeys(options: TenantKeysOptions): Promise<TenantKeys> {
  const { store, prefix, path, identityRevision } = options;
  const { entry } = await store.get(keysKey(prefix));
  // Read after the keys, so that the keys of a tenant that replaced this one are not used.
  const { entry: identity } = await store.get(identityKey(prefix));
  if (identity?.modRevision !== identityRevision) throw notFound(tenantsName, path);
  if (!entry) return makeKeys(options);
  // A failure is ignored: the store may be full or read-only for now. The next call retries.
  if (isStale(entry)) await renewSeal(options, entry).catch(() => {});
  return keysOf(entry.value);
}

export interface KeyWorld {
  readonly clock: Clock;
  readonly random: Random;
  /** Creates keys and signatures on the thread pool instead of the event loop. Not for virtual time. */
  readonly isPooled?: boolean;
}

export async function encodedNewKeys(path: string, world: KeyWorld): Promise<Buffer> {
  const keys = world.isPooled ? await pooledTenantKeys(path, world) : newTenantKeys(path, world);
  const value = encodeKeys(keys);
  remembered(value, () => keys);
  return value;
}

const frontProxyAuthorityName = (path: string): string => `hangar-${path}-front-proxy-ca`;

/** Creates keys for a tenant that has none. */
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
  // Another server was faster: use its keys if the tenant is still the same.
  const theirs = result.conflicts.find((conflict) => conflict.key === key)?.entry;
  if (result.conflicts.length > 1 || !theirs) throw notFound(tenantsName, path);
  return keysOf(theirs.value);
}

/** Writes the value unchanged, which encrypts it with the current key. A concurrent writer has the same effect. */
async function renewSeal({ store, prefix, identityRevision }: TenantKeysOptions, { key, value, modRevision }: Entry) {
  await store.commit([
    { type: 'put', key, value, expected: modRevision },
    { type: 'check', key: identityKey(prefix), expected: identityRevision },
  ]);
}
