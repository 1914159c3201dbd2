/**
 * A store that presents the values of one resource in the version of the request, and accepts them in it, while they are stored in another.
 * All code for stored values works with it unchanged, and nothing else waits for a webhook.
 */

import type {
  CommitResult,
  Entry,
  GetResult,
  KeyRange,
  RangeOptions,
  RangeResult,
  ReadOptions,
  Store,
  StoreEvent,
  Watch,
  WatchBatch,
  WatchOptions,
  Write,
} from '@hangar/store';
import type { StoredVersions } from './stored-versions.ts';
import { isStale, markStale } from '../../objects/stale.ts';

export class ConvertingStore implements Store {
  readonly #store: Store;
  /** Key prefix of the resource; other keys are passed through. */
  readonly #prefix: string;
  readonly #versions: StoredVersions;
  /** Watches share events, so they share the converted events too. */
  readonly #events = new WeakMap<StoreEvent, Promise<StoreEvent>>();

  constructor(store: Store, prefix: string, versions: StoredVersions) {
    this.#store = store;
    this.#prefix = prefix;
    this.#versions = versions;
  }

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    const result = await this.#store.get(key, options);
    if (!result.entry) return result;
    const [entry] = await this.#shown([result.entry]);
    return { ...result, entry };
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    const result = await this.#store.range(range, options);
    return options.keysOnly ? result : { ...result, entries: await this.#shown(result.entries) };
  }

  async commit(writes: readonly Write[]): Promise<CommitResult> {
    const stored = await Promise.all(
      writes.map(async (write) =>
        write.type === 'put' && this.#isOurs(write.key)
          ? { ...write, value: await this.#versions.toStore(write.value) }
          : write,
      ),
    );
    return this.#store.commit(stored);
  }

  watch(options: WatchOptions): Watch {
    const watch = this.#store.watch(options);
    return options.prefix.startsWith(this.#prefix) ? this.#converting(watch) : watch;
  }

  #converting(watch: Watch): Watch {
    const next = async (): Promise<WatchBatch | undefined> => {
      const batch = await watch.next();
      if (!batch || batch.events.length === 0) return batch;
      return { ...batch, events: await Promise.all(batch.events.map((event) => this.#event(event))) };
    };
    return {
      next,
      requestProgress: () => watch.requestProgress(),
      close: () => watch.close(),
      async *[Symbol.asyncIterator]() {
        try {
          for (let batch = await next(); batch; batch = await next()) yield batch;
        } finally {
          watch.close();
        }
      },
    };
  }

  #event(event: StoreEvent): Promise<StoreEvent> {
    let shown = this.#events.get(event);
    if (!shown) {
      this.#events.set(event, (shown = this.#shownEvent(event)));
      // A failed conversion is retried by the next watch.
      shown.catch(() => this.#events.delete(event));
    }
    return shown;
  }

  async #shownEvent(event: StoreEvent): Promise<StoreEvent> {
    const [first, second] = await this.#shown(
      event.type === 'put'
        ? [event.entry, ...(event.previous ? [event.previous] : [])]
        : event.previous
          ? [event.previous]
          : [],
    );
    if (event.type === 'put') return { ...event, entry: first!, ...(second ? { previous: second } : {}) };
    return { ...event, ...(first ? { previous: first } : {}) };
  }

  async #shown(entries: readonly Entry[]): Promise<Entry[]> {
    const ours = entries.filter(({ key }) => this.#isOurs(key));
    if (ours.length === 0) return [...entries];
    const values = await this.#versions.fromStore(ours.map(({ value }) => value));
    const shown = new Map(
      ours.map((entry, at) => {
        const copy = { ...entry, value: values[at]! };
        return [
          entry,
          isStale(entry) || !this.#versions.isStoredVersion(entry.value) ? markStale(copy) : copy,
        ] as const;
      }),
    );
    return entries.map((entry) => shown.get(entry) ?? entry);
  }

  #isOurs(key: string): boolean {
    return key.startsWith(this.#prefix);
  }

  revision: Store['revision'] = () => this.#store.revision();
  statistics: Store['statistics'] = (range, options) => this.#store.statistics(range, options);
  compact: Store['compact'] = (revision) => this.#store.compact(revision);
  grantLease: Store['grantLease'] = (ttlMs) => this.#store.grantLease(ttlMs);
  renewLease: Store['renewLease'] = (id) => this.#store.renewLease(id);
  leaseTtlMs: Store['leaseTtlMs'] = (id) => this.#store.leaseTtlMs(id);
  revokeLease: Store['revokeLease'] = (id) => this.#store.revokeLease(id);
  /** The control plane closes the store. */
  close: Store['close'] = () => Promise.resolve();
}
