/**
 * What a tenant is known by, and knows its users by: the CA of its clients, the CA of its front proxy, the key of its
 * service-account tokens. Made when they are first needed, the same for all replicas, gone with the tenant.
 */

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

export interface TenantKeysOptions {
  /** The one that seals secrets, and none with a fence of its own: a transaction names a key only once. */
  readonly store: Store;
  /** `/registry/clusters/<path>/`. */
  readonly prefix: string;
  readonly path: string;
  /** Of the tenant's identity: a tenant that was destroyed, or made anew in the meantime, gets no keys. */
  readonly identityRevision: Revision;
  readonly clock: Clock;
  readonly random: Random;
}

/** Nobody renews them: they are for the server alone, and go with the tenant. */
const authorityDays = 30 * 365;

/**
 * Those that were read or made last, by the place and revision of their tenant's identity: to make a tenant, to issue its
 * kubeconfig and to open it takes them three times in a few milliseconds, and each time they would be unsealed and decoded.
 */
const recent = new Map<string, TenantKeys>();
const recentMax = 64;

function remember(of: string, keys: TenantKeys): TenantKeys {
  recent.delete(of);
  recent.set(of, keys);
  if (recent.size > recentMax) recent.delete(recent.keys().next().value!);
  return keys;
}

/** Of one store: tests have several, whose tenants may be alike. */
const storeNumbers = new WeakMap<Store, number>();
let storesSeen = 0;

function numberOf(store: Store): number {
  let number = storeNumbers.get(store);
  if (number === undefined) storeNumbers.set(store, (number = ++storesSeen));
  return number;
}

const placeOf = ({ store, prefix, identityRevision }: StoredKeysOptions): string =>
  `${numberOf(store)} ${prefix} ${identityRevision}`;

type StoredKeysOptions = Pick<TenantKeysOptions, 'store' | 'prefix' | 'identityRevision'>;

/** For those who are not known yet: writes nothing. Undefined when nobody has made them, or the tenant has gone. */
export async function storedTenantKeys(options: StoredKeysOptions): Promise<TenantKeys | undefined> {
  const { store, prefix, identityRevision } = options;
  const known = recent.get(placeOf(options));
  if (known) return known;
  const { entry } = await store.get(keysKey(prefix));
  if (!entry) return undefined;
  const { entry: identity } = await store.get(identityKey(prefix));
  if (identity?.modRevision !== identityRevision) return undefined;
  const keys = keysOf(entry.value);
  // Who opens the tenant reads them once more, and seals them anew.
  return isStale(entry) ? keys : remember(placeOf(options), keys);
}

/** Reads them, or makes them. Throws NotFound when the tenant has gone. */
export async function tenantKeys(options: TenantKeysOptions): Promise<TenantKeys> {
  const { store, prefix, path, identityRevision } = options;
  const of = placeOf(options);
  const known = recent.get(of);
  const entry = known ? undefined : (await store.get(keysKey(prefix))).entry;
  // After them: keys of a tenant that has taken the place of this one are not this one's.
  const { entry: identity } = await store.get(identityKey(prefix));
  if (identity?.modRevision !== identityRevision) throw notFound(tenantsName, path);
  if (known) return known;
  if (!entry) return remember(of, await makeKeys(options));
  const keys = keysOf(entry.value);
  // That it could not be done is no reason to refuse: the store may be full, or not to be written to for now. The next one
  // who asks tries again.
  const isRenewed = !isStale(entry) || (await renewSeal(options, entry).then(isDone, isNotDone));
  return isRenewed ? remember(of, keys) : keys;
}

const isDone = (): boolean => true;
const isNotDone = (): boolean => false;

/**
 * Those that were encoded to be stored, by their bytes: what comes back from the store is what was made, with everything that
 * was found out about it while it was made.
 */
const encodedLately = new Map<string, TenantKeys>();

export function encodedNewKeys(path: string, world: { readonly clock: Clock; readonly random: Random }): Buffer {
  const keys = newTenantKeys(path, world);
  const value = encodeKeys(keys);
  encodedLately.set(value.toString('latin1'), keys);
  if (encodedLately.size > recentMax) encodedLately.delete(encodedLately.keys().next().value!);
  return value;
}

const keysOf = (value: Uint8Array): TenantKeys =>
  encodedLately.get(Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')) ?? decodeKeys(value);

/** For a tenant that has none. */
export function newTenantKeys(path: string, world: { readonly clock: Clock; readonly random: Random }): TenantKeys {
  const { createAuthority, newPrivateKey } = pki();
  return {
    authority: createAuthority(tenantAuthorityName, authorityDays, world),
    frontProxyAuthority: createAuthority(`hangar-${path}-front-proxy-ca`, authorityDays, world),
    serviceAccountKey: newPrivateKey(),
  };
}

async function makeKeys({ store, prefix, path, identityRevision, ...world }: TenantKeysOptions): Promise<TenantKeys> {
  const keys = newTenantKeys(path, world);
  const key = keysKey(prefix);
  const result = await store.commit([
    { type: 'put', key, value: encodeKeys(keys), expected: absent },
    { type: 'check', key: identityKey(prefix), expected: identityRevision },
  ]);
  if (result.committed) return keys;
  // Somebody else was faster: theirs count, if the tenant is still the same.
  const theirs = result.conflicts.find((conflict) => conflict.key === key)?.entry;
  if (result.conflicts.length > 1 || !theirs) throw notFound(tenantsName, path);
  return decodeKeys(theirs.value);
}

/** Written again as it is, it is sealed with the key that counts now. Whoever was faster has done the same. */
async function renewSeal({ store, prefix, identityRevision }: TenantKeysOptions, { key, value, modRevision }: Entry) {
  await store.commit([
    { type: 'put', key, value, expected: modRevision },
    { type: 'check', key: identityKey(prefix), expected: identityRevision },
  ]);
}
