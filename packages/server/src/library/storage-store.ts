/**
 * Adapts a custom storage to a store, so that every verb, patch, table and watch works on it. Keys are those of one resource, a transaction
 * is one write, and values are encoded from the objects and back.
 *
 * There is no history: a paginated list is served from the snapshot of its first page while that is cached; afterwards the client gets 410
 * and must list again.
 */

import type { KubeObject } from '@hangar/api';
import { compareKeys, CompactedError } from '@hangar/store';
import type {
  CommitResult,
  Entry,
  GetResult,
  KeyRange,
  RangeOptions,
  RangeResult,
  RangeStatistics,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchOptions,
  Write,
} from '@hangar/store';
import type { StoredForm } from '../objects/stored.ts';
import type { KindStorage } from './storage.ts';
import { StorageWatch } from './storage-watch.ts';

export interface StorageStoreOptions {
  readonly storage: KindStorage;
  /** Key prefix of the resource; ends in a slash. */
  readonly prefix: string;
  readonly isNamespaced: boolean;
  readonly stored: () => StoredForm;
}

interface Snapshot {
  readonly revision: Revision;
  readonly entries: readonly Entry[];
}

/** Length of a page without a limit. */
const entriesMax = 1_000;

/** Number of snapshots kept for paginated lists. */
const snapshotsMax = 4;

export class StorageStore implements Store {
  readonly #options: StorageStoreOptions;
  readonly #snapshots: (Snapshot & { readonly namespace: string })[] = [];

  constructor(options: StorageStoreOptions) {
    this.#options = options;
  }

  async revision(): Promise<Revision> {
    const { storage } = this.#options;
    const version = storage.version ? await storage.version() : ((await storage.list?.(''))?.version ?? 0);
    return version as Revision;
  }

  async get(key: string, { atRevision }: ReadOptions = {}): Promise<GetResult> {
    const { storage } = this.#options;
    const { namespace, name } = this.#named(key);
    const object = storage.get
      ? await storage.get(namespace, name)
      : (await storage.list?.(namespace))?.items.find((one) => one.metadata.name === name);
    const revision = await this.revision();
    if (atRevision !== undefined && atRevision !== revision) throw new CompactedError(atRevision, revision);
    return { entry: object && this.#entry(object), revision };
  }

  async range(range: KeyRange, { limit = 0, atRevision }: RangeOptions = {}): Promise<RangeResult> {
    if (this.#options.storage.page) return this.#page(range, limit, atRevision);
    const snapshot = await this.#snapshot(range, atRevision);
    const entries = snapshot.entries.filter(({ key }) => isWithin(key, range));
    const more = limit > 0 && entries.length > limit;
    return { entries: more ? entries.slice(0, limit) : entries, revision: snapshot.revision, more };
  }

  async #page({ start }: KeyRange, limit: number, version: Revision | undefined): Promise<RangeResult> {
    const asked = { start: this.#nameFrom(start), limit: limit === 0 ? entriesMax : limit, version };
    const { items, version: at, more } = await this.#options.storage.page!(asked);
    return { entries: items.map((object) => this.#entry(object)), revision: at as Revision, more };
  }

  /** Keys of pages are the prefix of the resource, or the successor of a name in it. */
  #nameFrom(key: string): string {
    return key.slice(this.#options.prefix.length);
  }

  async statistics(range: KeyRange, { atRevision }: ReadOptions = {}): Promise<RangeStatistics> {
    if (this.#options.storage.count) {
      const keys = await this.#options.storage.count({ start: this.#nameFrom(range.start), version: atRevision });
      return { keys, bytes: 0, revision: atRevision ?? (await this.revision()) };
    }
    const { entries, revision } = await this.range(range, atRevision === undefined ? {} : { atRevision });
    const bytes = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    return { keys: entries.length, bytes, revision };
  }

  async commit(writes: readonly Write[]): Promise<CommitResult> {
    const [write, ...others] = writes;
    if (!write || others.length > 0) throw new Error('a custom storage supports transactions of one write only');
    const version = await this.#write(write);
    if (version !== undefined) {
      return { committed: true, revision: version as Revision, deleted: write.type === 'delete' ? 1 : 0 };
    }
    const key = 'key' in write ? write.key : '';
    const { entry, revision } = await this.get(key);
    return { committed: false, revision, conflicts: [{ key, entry }] };
  }

  #write(write: Write): ReturnType<NonNullable<KindStorage['create']>> {
    const { storage } = this.#options;
    const refuse = (): never => {
      throw new Error(`this storage does not support ${write.type}`);
    };
    switch (write.type) {
      case 'put': {
        const object = this.#object(write.value);
        if (write.expected === 0) return storage.create ? storage.create(object) : refuse();
        return storage.update ? storage.update(object, write.expected!) : refuse();
      }
      case 'delete': {
        const { namespace, name } = this.#named(write.key);
        return storage.delete ? storage.delete(namespace, name, write.expected!) : refuse();
      }
      default:
        return refuse();
    }
  }

  watch({ prefix, fromRevision }: WatchOptions): Watch {
    const { storage } = this.#options;
    return new StorageWatch({
      watch: (after, signal) => storage.watch!(after, signal),
      present: () => this.revision(),
      after: fromRevision === undefined ? undefined : fromRevision - 1,
      entryOf: (object) => this.#entry(object),
      matches: (key) => key.startsWith(prefix),
    });
  }

  compact = (): Promise<void> => Promise.resolve();
  grantLease = (): Promise<never> => Promise.reject(new Error('a custom storage does not support leases'));
  renewLease = (): Promise<never> => this.grantLease();
  leaseTtlMs = (): Promise<never> => this.grantLease();
  revokeLease = (): Promise<never> => this.grantLease();
  close = (): Promise<void> => Promise.resolve();

  async #snapshot(range: KeyRange, atRevision: Revision | undefined): Promise<Snapshot> {
    const namespace = this.#namespaceOf(range);
    if (atRevision !== undefined) {
      const known = this.#snapshots.find((one) => one.revision === atRevision && one.namespace === namespace);
      if (known) return known;
    }
    const { items, version } = await this.#options.storage.list!(namespace);
    const revision = version as Revision;
    if (atRevision !== undefined && atRevision !== revision) throw new CompactedError(atRevision, revision);
    const entries = items.map((object) => this.#entry(object)).sort((a, b) => compareKeys(a.key, b.key));
    this.#snapshots.push({ namespace, revision, entries });
    if (this.#snapshots.length > snapshotsMax) this.#snapshots.shift();
    return { revision, entries };
  }

  /** Returns the namespace of a range inside one namespace; empty for all. */
  #namespaceOf({ start, end }: KeyRange): string {
    const { prefix, isNamespaced } = this.#options;
    if (!isNamespaced) return '';
    const [namespace = '', rest] = start.slice(prefix.length).split('/');
    const limit = `${prefix}${namespace}0`;
    // `0` follows `/`: a range that stops there or earlier has only keys of this namespace.
    return rest !== undefined && end !== undefined && compareKeys(end, limit) <= 0 ? namespace : '';
  }

  #named(key: string): { namespace: string; name: string } {
    const [first = '', second] = key.slice(this.#options.prefix.length).split('/');
    return second === undefined ? { namespace: '', name: first } : { namespace: first, name: second };
  }

  #object(value: Uint8Array): KubeObject {
    return JSON.parse(Buffer.from(value).toString()) as KubeObject;
  }

  #entry(object: KubeObject): Entry {
    const { prefix, isNamespaced, stored } = this.#options;
    const { namespace = '', name = '', resourceVersion = '0' } = object.metadata;
    const revision = Number(resourceVersion) as Revision;
    return {
      key: isNamespaced ? `${prefix}${namespace}/${name}` : `${prefix}${name}`,
      value: stored().encode(object),
      createRevision: revision,
      modRevision: revision,
      version: 1,
      lease: undefined,
    };
  }
}

const isWithin = (key: string, { start, end }: KeyRange): boolean =>
  compareKeys(key, start) >= 0 && (end === undefined || compareKeys(key, end) < 0);
