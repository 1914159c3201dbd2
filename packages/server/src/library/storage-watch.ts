/** Adapts the changes of a custom storage to the events of a store. */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision, StoreEvent, Watch, WatchBatch } from '@hangar/store';
import type { Change } from './storage.ts';

export interface StorageWatchOptions {
  watch(after: number, signal: AbortSignal): AsyncIterable<Change<KubeObject>>;
  present(): Promise<Revision>;
  /** Undefined: changes from now on. */
  readonly after: number | undefined;
  entryOf(object: KubeObject): Entry;
  matches(key: string): boolean;
}

export class StorageWatch implements Watch {
  readonly #options: StorageWatchOptions;
  readonly #stop = new AbortController();
  #changes: AsyncIterator<Change<KubeObject>> | undefined;
  /** Pending read; kept while a bookmark is sent before it. */
  #pending: Promise<IteratorResult<Change<KubeObject>>> | undefined;
  #seen: number;
  #progress = Promise.withResolvers<'progress'>();

  constructor(options: StorageWatchOptions) {
    this.#options = options;
    this.#seen = options.after ?? 0;
  }

  async next(): Promise<WatchBatch | undefined> {
    while (!this.#stop.signal.aborted) {
      this.#pending ??= (await this.#begun()).next();
      const result = await Promise.race([this.#pending, this.#progress.promise]);
      if (result === 'progress') {
        this.#progress = Promise.withResolvers();
        if (this.#stop.signal.aborted) break;
        // All events up to the last one were sent; nothing is promised about later revisions.
        return { revision: this.#seen as Revision, events: [] };
      }
      this.#pending = undefined;
      if (result.done) break;
      this.#seen = result.value.version;
      const event = this.#event(result.value);
      if (event) return { revision: this.#seen as Revision, events: [event] };
    }
    return undefined;
  }

  requestProgress(): void {
    this.#progress.resolve('progress');
  }

  close(): void {
    this.#stop.abort();
    this.#progress.resolve('progress');
    void this.#changes?.return?.()?.catch(() => undefined);
    this.#pending?.catch(() => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }

  async #begun(): Promise<AsyncIterator<Change<KubeObject>>> {
    if (!this.#changes) {
      if (this.#options.after === undefined) this.#seen = await this.#options.present();
      this.#changes = this.#options.watch(this.#seen, this.#stop.signal)[Symbol.asyncIterator]();
    }
    return this.#changes;
  }

  #event({ type, object, previous }: Change<KubeObject>): StoreEvent | undefined {
    const { entryOf, matches } = this.#options;
    const entry = entryOf(object);
    if (!matches(entry.key)) return undefined;
    switch (type) {
      case 'created':
        return { type: 'put', entry };
      case 'updated':
        return { type: 'put', entry, previous: previous ? entryOf(previous) : entry };
      case 'deleted':
        return { type: 'delete', key: entry.key, previous: entry };
    }
  }
}
