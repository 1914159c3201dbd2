/**
 * Cache of the IDs of tenants' token signing keys. Reading a key only to find that a token is forged takes ten times as long as refusing
 * the token by the ID. Only clients that have a token of the tenant know the ID.
 */

import type { Entry, Store } from '@hangar/store';

const known = new WeakMap<Store, Map<string, string>>();
const knownMax = 4_096;

/** `identity`: its revision distinguishes the tenant from others at the same path. `read`: resolves with undefined if there is no key. */
export async function tokenKeyId(
  store: Store,
  { key, modRevision }: Entry,
  read: () => Promise<string | undefined>,
): Promise<string | undefined> {
  let ids = known.get(store);
  if (!ids) known.set(store, (ids = new Map()));
  const of = `${modRevision} ${key}`;
  const found = ids.get(of);
  if (found !== undefined) return found;
  const id = await read();
  if (id === undefined) return undefined;
  ids.set(of, id);
  if (ids.size > knownMax) ids.delete(ids.keys().next().value!);
  return id;
}
