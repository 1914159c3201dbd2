/** Store that reports when a write fails because the tenant was replaced since it was opened. */

import { hasCode } from '@hangar/core';
import type { Store, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';

export class FencedStore extends ForwardingStore {
  readonly #onFenced: () => void;

  constructor(store: Store, onFenced: () => void) {
    super(store);
    this.#onFenced = onFenced;
  }

  override commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    return this.#told(this.store.commit(writes));
  }

  override get(...asked: Parameters<Store['get']>): ReturnType<Store['get']> {
    return this.#told(this.store.get(...asked));
  }

  override range(...asked: Parameters<Store['range']>): ReturnType<Store['range']> {
    return this.#told(this.store.range(...asked));
  }

  #told<T>(result: Promise<T>): Promise<T> {
    return result.catch((error: unknown) => {
      if (hasCode(error, 'Fenced')) this.#onFenced();
      throw error;
    });
  }
}
