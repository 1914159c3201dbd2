/**
 * Final usage of a tenant that is about to be destroyed, computed within a short time limit: the deletion must not wait for the count,
 * regardless of the size of the tenant. Amounts that cannot be counted in time are omitted; the usage counters are always included.
 */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { successor } from '@hangar/store';
import type { Store } from '@hangar/store';
import { decodeIdentity } from '../identity.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import { addObject, Counted, noAmounts } from './counted.ts';
import type { Amounts } from './counted.ts';
import { bornWith } from './tenant-usage.ts';
import type { TenantUsage, UsageWorld } from './tenant-usage.ts';

type AmountNames = 'objects' | 'storedBytes' | 'objectsPerKind';

/** Has all of the amounts, or none. */
export type LastUsage = Omit<TenantUsage, AmountNames> & Partial<Pick<TenantUsage, AmountNames>>;

type World = { readonly store: Store; readonly clock: Clock };

/** Sufficient for some ten thousand objects. */
const defaultCountingMs = 200;
/** Small: a page is read and counted in one slice of about half a millisecond. */
const pageLength = 100;

/** Returns undefined if the tenant does not exist. */
export async function lastUsage(
  world: UsageWorld,
  path: string,
  countingMs = defaultCountingMs,
): Promise<LastUsage | undefined> {
  const { store, storePrefix, usage } = world;
  const prefix = tenantPrefix(storePrefix, path);
  const { entry } = await store.get(identityKey(prefix));
  if (!entry) return undefined;
  const identity = decodeIdentity(entry.value);
  const counters = await usage.total(path, identity.seed);
  const used = { ...counters, since: identity.createdAt, watches: usage.watches(path) };
  const counted = new Counted({ storePrefix, prefix, isBornWith: await bornWith(world, identity) });
  return { ...used, ...(await countedInTime(world, counted, countingMs)) };
}

/** Resolves in time even if the store hangs. No read starts after the time limit. */
function countedInTime({ store, clock }: World, counted: Counted, countingMs: number): Promise<Amounts | undefined> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const timer = clock.after(countingMs, () => {
      isOver = true;
      resolve(undefined);
    });
    const end = clock.monotonicMs() + countingMs;
    const count = countWhile({ store, clock }, counted, () => !isOver && clock.monotonicMs() < end);
    count.then(resolve, reject).finally(() => timer.cancel());
  });
}

/**
 * Counts the current state page by page. It does not read at one revision, because that could be compacted, and the difference is
 * irrelevant for billing. Sizes are sums by the store; etcd has none, so the values of a page are read for it, while there is time.
 */
async function countWhile(
  { store, clock }: World,
  counted: Counted,
  goesOn: () => boolean,
): Promise<Amounts | undefined> {
  const amounts = noAmounts();
  let { start } = counted.range;
  while (goesOn()) {
    const { entries, more } = await store.range({ ...counted.range, start }, { keysOnly: true, limit: pageLength });
    if (entries.length === 0) return amounts;
    const end = successor(entries.at(-1)!.key);
    if (!goesOn()) return undefined;
    amounts.storedBytes += (await store.statistics({ start, end })).bytes;
    for (const { key } of entries) {
      const kind = counted.kindOf(key);
      if (kind !== undefined) addObject(amounts, kind, 1);
    }
    if (!more) return amounts;
    start = end;
    await breathe(clock);
  }
  return undefined;
}
