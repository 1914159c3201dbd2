/**
 * Store that reports when a read, write or watch fails because the identity of the tenant changed since it was opened. If the next view
 * of the tenant shows the same history, watches end as if the tenant were closed, and clients resume them.
 */

import { hasCode } from '@hangar/core';
import { StoreError } from '@hangar/store';
import type { Store, Watch, WatchBatch, WatchOptions, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { recorded } from './hold/attempt.ts';

export interface FencedStoreOptions {
  readonly onFenced: () => void;
  /** Reports whether the next view of the tenant shows the same history. Called after the fence was broken. */
  readonly continues: () => Promise<boolean>;
}

export class FencedStore extends ForwardingStore {
  readonly #options: FencedStoreOptions;
  #continues: Promise<boolean> | undefined;

  constructor(store: Store, options: FencedStoreOptions) {
    super(store);
    this.#options = options;
  }

  override commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    return this.#noticing(recorded(this.store.commit(writes)));
  }

  override get(...asked: Parameters<Store['get']>): ReturnType<Store['get']> {
    return this.#noticing(this.store.get(...asked));
  }

  override range(...asked: Parameters<Store['range']>): ReturnType<Store['range']> {
    return this.#noticing(this.store.range(...asked));
  }

  override watch(options: WatchOptions): Watch {
    return new FencedWatch(this.store.watch(options), (error) => this.#endOf(error));
  }

  #noticing<T>(result: Promise<T>): Promise<T> {
    return result.catch((error: unknown) => {
      if (hasCode(error, 'Fenced')) this.#options.onFenced();
      throw error;
    });
  }

  /** Returns the error that ends a watch. */
  async #endOf(error: unknown): Promise<unknown> {
    if (!hasCode(error, 'Fenced')) return error;
    this.#options.onFenced();
    this.#continues ??= this.#hasSameHistory();
    return (await this.#continues) ? new StoreError('Closed', 'the view of the tenant was closed') : error;
  }

  async #hasSameHistory(): Promise<boolean> {
    try {
      return await this.#options.continues();
    } catch {
      return false;
    }
  }
}

class FencedWatch implements Watch {
  readonly #watch: Watch;
  readonly #endOf: (error: unknown) => Promise<unknown>;

  constructor(watch: Watch, endOf: (error: unknown) => Promise<unknown>) {
    this.#watch = watch;
    this.#endOf = endOf;
  }

  next(): Promise<WatchBatch | undefined> {
    return this.#watch.next().catch(async (error: unknown) => {
      throw await this.#endOf(error);
    });
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  close(): void {
    this.#watch.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }
}
