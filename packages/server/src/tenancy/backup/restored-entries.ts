/** Converts the entries of a backup into writes to the range of the restored tenant. */

import { StatusError } from '@hangar/api';
import { absent } from '@hangar/store';
import type { TransferEntry, Write } from '@hangar/store';
import type { TenantBase } from '../base/base.ts';
import { entriesOfTenant } from '../base/of-tenant.ts';
import type { MadeEntries } from '../base/with-entries.ts';
import { decodeKeys, encodeKeys } from '../keys/encoding.ts';
import { newTenantKeys } from '../keys/keys.ts';
import type { TenantKeys } from '../keys/keys.ts';
import type { TenantWorld } from '../open-tenant.ts';
import type { BackupAbout } from './about.ts';
import { ContentsCheck, keysName } from './contents.ts';
import { refused } from './refused.ts';
import { transactions } from './transactions.ts';

export interface RestoredOptions {
  readonly about: BackupAbout;
  readonly path: string;
  /** Prefix of the written keys. */
  readonly prefix: string;
  /** Keys of the tenant, if it exists. The keys of a backup replace them. */
  readonly currentKeys?: TenantKeys;
  readonly world: Pick<TenantWorld, 'base' | 'url' | 'servingCa' | 'hasNodes' | 'clock' | 'random'>;
}

/** Yields the writes of one transaction at a time. Throws 400 on the first invalid entry. */
export const restoredEntries = (
  entries: AsyncIterable<TransferEntry>,
  options: RestoredOptions,
): AsyncGenerator<Write[], void, void> => transactions(restoredWrites(entries, options));

async function* restoredWrites(
  entries: AsyncIterable<TransferEntry>,
  options: RestoredOptions,
): AsyncGenerator<Write, void, void> {
  const { world, about, prefix } = options;
  const contents = new ContentsCheck(about);
  const ownKeys = new OwnKeys(options, about.identity.isMaterialised ? await world.base() : undefined);
  for await (const entry of readable(entries)) {
    contents.check(entry);
    const restored = ownKeys.restored(entry);
    if (restored) yield { type: 'put', key: prefix + restored.key, value: restored.value, expected: absent };
  }
  yield* ownKeys.made();
}

/** Converts read errors into 400: they are caused by the file. */
export async function* readable<T>(entries: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  try {
    yield* entries;
  } catch (error) {
    throw error instanceof StatusError ? error : refused((error as Error).message, error);
  }
}

/**
 * Replaces the keys if the path differs: with the same keys, each tenant would accept the users of the other. In a materialised tenant, it
 * also regenerates the entries that were derived from the keys and the address.
 */
class OwnKeys {
  readonly #options: RestoredOptions;
  /** Base from which a materialised tenant's range was filled. */
  readonly #base: TenantBase | undefined;
  #keys: TenantKeys | undefined;
  #entries: MadeEntries | undefined;
  #areNew = false;

  constructor(options: RestoredOptions, base: TenantBase | undefined) {
    this.#options = options;
    this.#base = base;
  }

  /** Returns undefined if the entry is left out. */
  restored(entry: TransferEntry): TransferEntry | undefined {
    const { about, path, world, currentKeys } = this.#options;
    if (entry.key === keysName) {
      if (about.path !== path) return undefined;
      this.#keys = decodeKeys(entry.value);
      return entry;
    }
    if (!this.#base) return entry;
    // Keys come first: they sort before all objects.
    if (!this.#keys) {
      this.#keys = currentKeys ?? newTenantKeys(path, world);
      this.#areNew = !currentKeys;
    }
    this.#entries ??= entriesOfTenant(
      { ...world, base: this.#base },
      { path, identity: about.identity, keys: this.#keys },
    );
    const made = this.#entries.get(entry.key);
    return made ? { key: entry.key, value: made() } : entry;
  }

  made(): Write[] {
    if (!this.#areNew || !this.#keys) return [];
    const key = this.#options.prefix + keysName;
    return [{ type: 'put', key, value: encodeKeys(this.#keys), expected: absent }];
  }
}
