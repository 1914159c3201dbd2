/** For the driver's own tests: data directories left by a crash, damaged directories, and their contents. */

import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Revision, Store, Write } from '../../contract.ts';
import type { StoreError } from '../../errors.ts';
import { everything } from '../../keys.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import type { EmbeddedStoreOptions } from './embedded-store.ts';
import { dataFiles, holdsStore, inspect } from './inspect.ts';
import { SqliteReader } from './sqlite-reader.ts';

/** A folder for one test file; each call of `path` names another directory in it. */
export class TestFolder {
  readonly #root = mkdtempSync(join(tmpdir(), 'hangar-embedded-'));
  #count = 0;

  path(): string {
    return join(this.#root, `d${this.#count++}`);
  }

  copyOf(directory: string): string {
    const copy = this.path();
    cpSync(directory, copy, { recursive: true });
    return copy;
  }

  /** Copies the directory as a killed process would leave it. The store stays open and continues. */
  crashedCopyOf(directory: string): string {
    const copy = this.path();
    cpSync(directory, copy, { recursive: true, filter: (path) => path === directory });
    const { database, journal, mark } = dataFiles(directory);
    for (const path of [database, journal, mark]) {
      if (existsSync(path)) copyFileSync(path, path.replace(directory, copy));
    }
    return copy;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export function put(key: string, text: string, more: Partial<Write & { type: 'put' }> = {}): Write {
  return { type: 'put', key, value: Buffer.from(text), ...more };
}

/** Opens it for one piece of work. */
export async function withStore<T>(options: EmbeddedStoreOptions, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openEmbeddedStore(options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A little of everything: several versions, deletions, values of many pages, a lease, a compaction. */
export async function populate(store: Store): Promise<void> {
  for (let at = 0; at < 12; at++) await store.commit([put(`/k${at}`, `first ${at}`)]);
  await store.commit([put('/large', 'large '.repeat(2_000)), put('/empty', '')]);
  await store.compact(await store.revision());
  const lease = await store.grantLease(600_000);
  await store.commit([put('/leased', 'mine', { lease: lease.id }), put('/k1', 'second 1')]);
  await store.commit([{ type: 'delete', key: '/k2' }, put('/k3', 'second 3')]);
  await store.commit([{ type: 'deleteRange', range: { start: '/k4', end: '/k6' } }]);
  await store.commit([put('/k1', 'third 1')]);
}

/** Returns the code of the refusal, or `opened`. */
export async function refusalOf(directory: string): Promise<{ code: string; message: string }> {
  try {
    const store = await openEmbeddedStore({ directory });
    await store.close();
    return { code: 'opened', message: '' };
  } catch (error) {
    const { code, message } = error as StoreError;
    return { code, message };
  }
}

/**
 * Returns the whole content of a directory as text, or the error that prevented the read. Uses the store's inspection and reader, without
 * opening a store.
 */
export function readAll(directory: string): { text: string } | { error: StoreError } {
  const files = dataFiles(directory);
  let database: DatabaseSync | undefined;
  try {
    if (!holdsStore(files)) return { text: 'nothing' };
    inspect(files, { verifyBytesMax: Infinity });
    database = new DatabaseSync(files.database, { readOnly: true });
    return { text: contentsOf(new SqliteReader(database, files.database)) };
  } catch (error) {
    return { error: error as StoreError };
  } finally {
    database?.close();
  }
}

export function contentsOf(reader: SqliteReader): string {
  const revision = reader.revision();
  const compacted = reader.compactedRevision();
  const options = { limit: Infinity, keysOnly: false };
  const past = [];
  for (let at = compacted; at <= revision; at++) {
    past.push(
      reader.range(everything, { ...options, at: at as Revision }),
      reader.statistics(everything, at as Revision),
    );
  }
  const { entries } = reader.range(everything, { ...options, at: undefined });
  const single = entries.map(({ key }) => reader.get(key, undefined).entry);
  const history = reader.history(everything, { from: (compacted + 1) as Revision, to: revision, rowsMax: 1_000 });
  const statistics = reader.statistics(everything, undefined);
  const all = { revision, compacted, entries, single, past, history, statistics, leases: reader.leases() };
  return JSON.stringify(all, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
}

/** Changes one byte of a file, so that at least one bit differs. */
export function flip(path: string, offset: number, mask = 0xff): void {
  const bytes = readFileSync(path);
  bytes[offset]! ^= mask;
  writeFileSync(path, bytes);
}
