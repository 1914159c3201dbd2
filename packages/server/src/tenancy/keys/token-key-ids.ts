/**
 * Which keys the tokens of tenants are of, by name: to read a key, only to find that a token was made up, takes ten times as
 * long as to refuse it. Nobody who was not given a token of the tenant knows the name.
 */

import type { Entry, Store } from '@hangar/store';

const known = new WeakMap<Store, Map<string, string>>();
const knownMax = 4_096;

/** `identity`: of the tenant, by whose revision it is told from others at its place. `read`: undefined when there is no key. */
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
