/** A store that wraps a store: subclasses override some methods, all others are passed through. */

import type { HistoryHold, Store } from '@hangar/store';

export abstract class ForwardingStore implements Store {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  revision(): ReturnType<Store['revision']> {
    return this.store.revision();
  }

  get(...parameters: Parameters<Store['get']>): ReturnType<Store['get']> {
    return this.store.get(...parameters);
  }

  range(...parameters: Parameters<Store['range']>): ReturnType<Store['range']> {
    return this.store.range(...parameters);
  }

  statistics(...parameters: Parameters<Store['statistics']>): ReturnType<Store['statistics']> {
    return this.store.statistics(...parameters);
  }

  commit(...parameters: Parameters<Store['commit']>): ReturnType<Store['commit']> {
    return this.store.commit(...parameters);
  }

  watch(...parameters: Parameters<Store['watch']>): ReturnType<Store['watch']> {
    return this.store.watch(...parameters);
  }

  compact(...parameters: Parameters<Store['compact']>): Promise<void> {
    return this.store.compact(...parameters);
  }

  holdHistory(hold: HistoryHold): void {
    this.store.holdHistory?.(hold);
  }

  grantLease(...parameters: Parameters<Store['grantLease']>): ReturnType<Store['grantLease']> {
    return this.store.grantLease(...parameters);
  }

  renewLease(...parameters: Parameters<Store['renewLease']>): Promise<void> {
    return this.store.renewLease(...parameters);
  }

  leaseTtlMs(...parameters: Parameters<Store['leaseTtlMs']>): Promise<number> {
    return this.store.leaseTtlMs(...parameters);
  }

  revokeLease(...parameters: Parameters<Store['revokeLease']>): Promise<void> {
    return this.store.revokeLease(...parameters);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
