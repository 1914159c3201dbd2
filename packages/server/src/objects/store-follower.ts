/**
 * Follows one prefix of the store: lists it, then watches every change. If history was compacted or the connection was lost, it relists.
 */

import { breathe, hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Entry, Revision, Store, Watch } from '@hangar/store';

export interface Following {
  put(entry: Entry): void;
  delete(key: string, revision: Revision): void;
  /** Called with all keys of a revision: any other known key was deleted unseen. */
  retain(keys: ReadonlySet<string>, revision: Revision): void;
}

const retryMs = 1_000;
/** Handling many events may take long: yields this often. */
const sliceMs = 4;

export class StoreFollower {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #following: Following;
  #watch: Watch | undefined;
  #revision = 0 as Revision;
  #waiting: { revision: Revision; resolve(): void }[] = [];
  #isClosed = false;

  constructor({ store, clock }: { store: Store; clock: Clock }, prefix: string, following: Following) {
    this.#store = store;
    this.#clock = clock;
    this.#prefix = prefix;
    this.#following = following;
  }

  /** Resolves when all stored entries were delivered. */
  async start(): Promise<void> {
    await this.#read();
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when all changes up to this revision were delivered, or when it stopped. */
  reached(revision: Revision): Promise<void> {
    if (this.#revision >= revision || this.#isClosed) return Promise.resolve();
    this.#watch?.requestProgress();
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }));
  }

  async #read(): Promise<void> {
    const { entries, revision } = await this.#store.range(prefixRange(this.#prefix));
    if (this.#isClosed) return;
    this.#following.retain(new Set(entries.map(({ key }) => key)), revision);
    await this.#tell(entries);
    if (this.#isClosed) return;
    this.#watch = this.#store.watch({ prefix: this.#prefix, fromRevision: (revision + 1) as Revision });
    this.#advance(revision);
  }

  async #tell(entries: readonly Entry[]): Promise<void> {
    let sinceMs = this.#clock.monotonicMs();
    for (const entry of entries) {
      if (this.#clock.monotonicMs() - sinceMs > sliceMs) {
        await breathe(this.#clock);
        if (this.#isClosed) return;
        sinceMs = this.#clock.monotonicMs();
      }
      this.#following.put(entry);
    }
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      const watch = this.#watch!;
      try {
        // Not `for await`: its generator would take as much memory as the rest of a follower.
        for (let batch = await watch.next(); batch; batch = await watch.next()) {
          for (const event of batch.events) {
            if (event.type === 'put') this.#following.put(event.entry);
            else this.#following.delete(event.key, batch.revision);
          }
          this.#advance(batch.revision);
        }
        return;
      } catch (error) {
        watch.close();
        if (this.#isClosed || hasCode(error, 'Closed') || hasCode(error, 'Fenced')) return;
        await this.#readAgain();
      }
    }
  }

  async #readAgain(): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.#read();
      } catch {
        await sleep(this.#clock, retryMs);
      }
    }
  }

  #advance(revision: Revision): void {
    this.#revision = revision;
    const reached = this.#waiting.filter((one) => one.revision <= revision);
    this.#waiting = this.#waiting.filter((one) => one.revision > revision);
    for (const { resolve } of reached) resolve();
  }
}
