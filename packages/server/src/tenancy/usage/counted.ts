/**
 * Defines which entries of a tenant's range count. Bytes are those of every key that belongs to the tenant, and of its value. Objects are
 * those that the tenant created: not base objects, even if changed, and not the server's notes beside objects. Internal entries of the
 * server (`.hangar/`, `.hidden/`) do not count.
 */

import { groupResourceText, serviceUnavailable } from '@hangar/api';
import { breathe, hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { prefixRange, successor } from '@hangar/store';
import type { KeyRange, Revision, Store } from '@hangar/store';
import { keyResources } from '../../resources/key-resource.ts';

export interface Amounts {
  objects: number;
  storedBytes: number;
  /** Number of objects by `configmaps`, `deployments.apps`. */
  readonly objectsPerKind: Map<string, number>;
}

export const noAmounts = (): Amounts => ({ objects: 0, storedBytes: 0, objectsPerKind: new Map() });

export function addObject(amounts: Amounts, kind: string, change: 1 | -1): void {
  amounts.objects += change;
  const count = (amounts.objectsPerKind.get(kind) ?? 0) + change;
  if (count === 0) amounts.objectsPerKind.delete(kind);
  else amounts.objectsPerKind.set(kind, count);
}

export interface CountedOptions {
  readonly storePrefix: string;
  /** Prefix of the tenant. */
  readonly prefix: string;
  /** Reports whether a key, without the tenant's prefix, is in the base of every tenant. */
  readonly isBornWith: (key: string) => boolean;
}

/** Internal names begin with a dot. No resource does, so they sort before all resources. */
const firstCounted = '/';

export class Counted {
  readonly range: KeyRange;
  readonly #options: CountedOptions;
  /** Independent of whether the key counts. */
  readonly resourceOf: ReturnType<typeof keyResources>;

  constructor(options: CountedOptions) {
    this.#options = options;
    this.resourceOf = keyResources(options.storePrefix);
    const { end } = prefixRange(options.prefix);
    this.range = { start: `${options.prefix}${firstCounted}`, ...(end === undefined ? {} : { end }) };
  }

  has(key: string): boolean {
    const { prefix } = this.#options;
    return key.startsWith(prefix) && key.length > prefix.length && key[prefix.length] !== '.';
  }

  /** Returns undefined if the key is not an object that counts. */
  kindOf(key: string): string | undefined {
    const { prefix, isBornWith } = this.#options;
    if (!this.has(key) || isBornWith(key.slice(prefix.length)) || this.isNote(key)) return undefined;
    return kindName(groupResourceText(this.resourceOf(key)!));
  }

  /** Reports whether the key is a note of the server beside objects, such as the allocated ports. */
  isNote(key: string): boolean {
    return this.has(key) && (this.resourceOf(key)?.resource ?? '') === '';
  }
}

/** Events are in two groups, and stored once. */
export const kindName = (name: string): string => (name === 'events.events.k8s.io' ? 'events' : name);

export const entryBytes = (key: string, value: Uint8Array): number => Buffer.byteLength(key) + value.length;

const pageLength = 1_000;
/** Gives up if the revision is compacted each time before the count is complete. */
const attemptsMax = 5;

/** Counts the whole range as of one revision, page by page; other requests are served in between. */
export async function countAll(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  counted: Counted,
): Promise<Amounts & { readonly revision: Revision }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await countOnce(store, clock, counted);
    } catch (error) {
      if (!hasCode(error, 'Compacted')) throw error;
      // The revision was compacted: count again at the current one.
      if (attempt === attemptsMax) {
        throw serviceUnavailable(
          'cannot count the objects of the tenant: the revision was compacted during the count, please try again',
        );
      }
    }
  }
}

async function countOnce(store: Store, clock: Clock, counted: Counted): Promise<Amounts & { revision: Revision }> {
  const { bytes, revision } = await store.statistics(counted.range);
  const amounts = { ...noAmounts(), storedBytes: bytes, revision };
  let { start } = counted.range;
  for (;;) {
    const page = await store.range(
      { ...counted.range, start },
      { atRevision: revision, keysOnly: true, limit: pageLength },
    );
    for (const { key } of page.entries) {
      const kind = counted.kindOf(key);
      if (kind !== undefined) addObject(amounts, kind, 1);
    }
    if (!page.more) return amounts;
    start = successor(page.entries.at(-1)!.key);
    await breathe(clock);
  }
}
