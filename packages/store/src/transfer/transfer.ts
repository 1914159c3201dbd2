/**
 * Export and import of a range: backup of a tenant, its copy under another name, its move to another store. Uses only the contract, so it
 * works between any two drivers and on layered views.
 */

import { absent } from '../contract.ts';
import type { Entry, KeyRange, RangeResult, Revision, Store, Write } from '../contract.ts';
import { asError } from '@hangar/core';
import type { StoreError, StoreErrorCode } from '../errors.ts';
import { checkKey, prefixRange, successor } from '../keys.ts';
import { transactionWritesMax, valueBytesMax } from '../limits.ts';
import { decodeEntries, encodeEntries } from './format.ts';
import type { TransferEntry } from './format.ts';
import { failed } from './framing.ts';

const pageLengthMax = 500;
const firstPageLength = 8;
const defaultPageBytes = 1024 * 1024;

export interface ExportOptions {
  prefix: string;
  /** Absent: the current revision when the export begins. */
  atRevision?: Revision;
  /** Metadata that `readTransfer` returns before the first entry. */
  about?: Uint8Array;
  /** Leaves an entry out. */
  omits?(key: string, entry: Entry): boolean;
}

/**
 * Returns the entries under the prefix, all as of one revision, as a stream of bytes. Rejects with `Compacted` when the history window
 * moves past that revision before the export ends. Leases are not exported: entries that had one outlive it.
 */
export function exportRange(store: Store, options: ExportOptions): AsyncGenerator<Uint8Array, void, void> {
  return encodeEntries(entriesOf(store, options), options.about);
}

async function* entriesOf(store: Store, options: ExportOptions): AsyncGenerator<TransferEntry, void, void> {
  const { prefix, omits, atRevision } = options;
  for await (const entry of entriesIn(store, prefixRange(prefix), atRevision)) {
    const key = entry.key.slice(prefix.length);
    if (!omits?.(key, entry)) yield { key, value: entry.value };
  }
}

/**
 * Yields the entries of a range in key order, all as of one revision, and holds about 1 MiB of them. Absent `atRevision`: the current
 * revision when the first page is read. Rejects with `Compacted` when the history window moves past that revision.
 */
export async function* entriesIn(
  store: Store,
  range: KeyRange,
  atRevision?: Revision,
): AsyncGenerator<Entry, void, void> {
  for await (const { entries } of pagesIn(store, range, { atRevision })) yield* entries;
}

export interface PageOptions {
  readonly atRevision?: Revision | undefined;
  /** Approximate size of a page. A single entry may be larger. */
  readonly pageBytes?: number | undefined;
  /** Limit of entries of a page, which bounds it if large entries follow small ones. */
  readonly pageLength?: number | undefined;
}

/** Yields the entries of a range like `entriesIn`, in pages; at least one, which can be empty. */
export async function* pagesIn(
  store: Store,
  { start, end }: KeyRange,
  { atRevision, pageBytes = defaultPageBytes, pageLength = pageLengthMax }: PageOptions = {},
): AsyncGenerator<RangeResult, void, void> {
  let at = atRevision;
  let limit = firstPageLength;
  for (let from = start; ;) {
    const range = end === undefined ? { start: from } : { start: from, end };
    const page = await store.range(range, { limit, ...(at !== undefined && { atRevision: at }) });
    at = page.revision;
    yield page;
    if (!page.more) return;
    from = successor(page.entries.at(-1)!.key);
    limit = Math.min(pageLength, nextLimit(page.entries, pageBytes));
  }
}

/** At most twice as many as before: the next entries may be larger. */
function nextLimit(entries: readonly Entry[], pageBytes: number): number {
  const bytes = entries.reduce((sum, { value }) => sum + value.length, 1);
  return Math.max(1, Math.min(pageLengthMax, 2 * entries.length, Math.floor((pageBytes * entries.length) / bytes)));
}

export interface ImportOptions {
  /** Target prefix; it must be empty. */
  prefix: string;
}

export interface ImportResult {
  readonly entries: number;
  /** All entries exist from this revision on. */
  readonly revision: Revision;
}

/**
 * Writes an exported stream under the prefix, in several transactions. Atomic: if the stream or the store fails, the written entries are
 * deleted before it rejects, with `ImportFailed` if the stream failed. (A crash in the middle leaves a part, which the next import refuses
 * as "not empty": delete the range, then import again.)
 */
export async function importRange(
  store: Store,
  chunks: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportResult> {
  const target = prefixRange(options.prefix);
  const present = await store.range(target, { limit: 1, keysOnly: true });
  if (present.entries.length > 0) throw failed(`keys already exist under ${JSON.stringify(options.prefix)}`);
  let entries = 0;
  let { revision } = present;
  try {
    for await (const writes of transactions(decodeEntries(chunks), options.prefix)) {
      const result = await store.commit(writes);
      if (!result.committed) throw failed(`another process writes under ${JSON.stringify(options.prefix)}`);
      entries += writes.length;
      revision = result.revision;
    }
    return { entries, revision };
  } catch (error) {
    // If the store refuses even this, a part remains, as after a crash.
    if (entries > 0) await store.commit([{ type: 'deleteRange', range: target }]).catch(() => {});
    throw faultsOfTheStream.has((error as StoreError).code) ? failed(asError(error).message, { cause: error }) : error;
  }
}

const faultsOfTheStream: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  'StorageDamaged',
  'InvalidKey',
  'InvalidRequest',
  'ValueTooLarge',
]);

/** Groups entries into transactions of the largest size. */
async function* transactions(
  entries: AsyncIterable<TransferEntry>,
  prefix: string,
): AsyncGenerator<Write[], void, void> {
  let writes: Write[] = [];
  let bytes = 0;
  for await (const { key, value } of entries) {
    const fullKey = prefix + key;
    checkKey(fullKey);
    const size = fullKey.length + value.length;
    if (writes.length === transactionWritesMax || bytes + size > valueBytesMax) {
      yield writes;
      writes = [];
      bytes = 0;
    }
    writes.push({ type: 'put', key: fullKey, value, expected: absent });
    bytes += size;
  }
  if (writes.length > 0) yield writes;
}
