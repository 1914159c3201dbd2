/** Compares the staged entries of a tenant with the range of the tenant. */

import { Buffer } from 'node:buffer';
import { compareKeys, entriesIn, prefixRange } from '@hangar/store';
import type { Entry, Store, Write } from '@hangar/store';
import { isInternalName } from './contents.ts';

export interface ComparedPrefixes {
  readonly staged: string;
  /** `/registry/clusters/<path>/`. */
  readonly own: string;
}

/**
 * Yields the writes in key order: changed and missing entries are put, others are deleted. Internal data of the server about the tenant is
 * left out. An entry with a lease is different from a staged one, which has none.
 */
export async function* differences(store: Store, prefixes: ComparedPrefixes): AsyncGenerator<Write, void, void> {
  const staged = objectsIn(store, prefixes.staged);
  const own = objectsIn(store, prefixes.own);
  try {
    let [wanted, present] = [await taken(staged), await taken(own)];
    while (wanted || present) {
      const order = wanted && present ? compareKeys(wanted.key, present.key) : wanted ? -1 : 1;
      if (order > 0) yield { type: 'delete', key: prefixes.own + present!.key };
      else if (order < 0 || !isEqual(wanted!.entry, present!.entry)) {
        yield { type: 'put', key: prefixes.own + wanted!.key, value: wanted!.entry.value };
      }
      if (order <= 0) wanted = await taken(staged);
      if (order >= 0) present = await taken(own);
    }
  } finally {
    await Promise.all([staged.return(), own.return()]);
  }
}

interface Relative {
  /** Below the prefix. */
  readonly key: string;
  readonly entry: Entry;
}

async function* objectsIn(store: Store, prefix: string): AsyncGenerator<Relative, void, void> {
  for await (const entry of entriesIn(store, prefixRange(prefix))) {
    const key = entry.key.slice(prefix.length);
    if (!isInternalName(key)) yield { key, entry };
  }
}

async function taken(entries: AsyncGenerator<Relative, void, void>): Promise<Relative | undefined> {
  const { done, value } = await entries.next();
  return done ? undefined : value;
}

const isEqual = (staged: Entry, own: Entry): boolean =>
  own.lease === undefined && Buffer.compare(staged.value, own.value) === 0;
