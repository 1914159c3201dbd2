/**
 * Feed of all changes in all control planes, in order, from one scan and one watch of the store, for controllers of this process that serve
 * the whole fleet. The cost is proportional to the changes. Base objects are sent only when they are changed or deleted.
 *
 *     start ──▶ all Tenants, then all stored objects, as of one revision ──▶ synced ──▶ each later revision
 *       ▲                                                                                    │
 *       └─────────────────────── back-off ◀── reset ◀── history lost, store unavailable ◀────┘
 */

import { asError, assert, backOffMs, giveWay, hasCode, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Revision, Store, Watch } from '@hangar/store';
import { clustersPrefix, rootPath, tenantPrefix } from '../layout.ts';
import { tenantKey, tenantsPrefix } from '../tenant.ts';
import type { FeedListener } from './contract.ts';
import { deletedBaseEntry } from './deleted-base.ts';
import type { DeletedBaseWorld } from './deleted-base.ts';
import { scan } from './scan.ts';
import { Teller } from './teller.ts';

export interface TenantFeedWorld extends DeletedBaseWorld {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly onError: (error: Error) => void;
}

const backOff = { baseMs: 100, maxMs: 10_000 };
/** Maximum time to process revisions without yielding to the event loop. */
const sliceMs = 4;

export class TenantFeed {
  readonly #world: TenantFeedWorld;
  #teller: Teller | undefined;
  #watch: Watch | undefined;
  /** Control planes whose stored objects have to be sent, with the mark of the last request. */
  readonly #toTell = new Map<string, number | undefined>();

  constructor(world: TenantFeedWorld) {
    this.#world = world;
  }

  /** Runs until the signal fires or the store closes. Never rejects. Allows one listener at a time. */
  async follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    assert(!this.#teller, 'a feed can have only one listener at a time');
    const { clock, random, onError } = this.#world;
    const onAbort = (): void => this.#watch?.close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (let failures = 0; !signal.aborted;) {
        let syncedMs = Infinity;
        try {
          await this.#begin(listener, signal);
          syncedMs = clock.monotonicMs();
          await this.#tellAll(listener, signal);
          return;
        } catch (error) {
          if (signal.aborted || hasCode(error, 'Closed')) return;
          onError(asError(error));
          // Back off further if it fails again soon after the sync, because each start reads everything.
          failures = clock.monotonicMs() - syncedMs > backOff.maxMs ? 1 : failures + 1;
        } finally {
          this.#end();
        }
        await sleep(clock, backOffMs(backOff, failures, random), signal).catch(() => undefined);
        if (!signal.aborted) listener.reset();
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Reports whether the control plane exists, as of the last revision sent. Always true for `root`. */
  has(cluster: string): boolean {
    return cluster === rootPath || this.#teller?.has(cluster) === true;
  }

  /** Sends the stored objects of the control plane again, in order with later changes, then calls `clusterTold` with the mark. */
  retell(cluster: string, mark?: number): void {
    this.#toTell.set(cluster, mark);
    // The scan runs at the next revision from the watch; a progress request ensures that one arrives soon.
    this.#watch?.requestProgress();
  }

  async #begin(listener: FeedListener, signal: AbortSignal): Promise<void> {
    const { store, clock, storePrefix } = this.#world;
    const teller = new Teller({
      storePrefix,
      listener,
      deletedBase: (deleted) => deletedBaseEntry(this.#world, deleted),
      tenantAt: async (cluster, atRevision) => (await store.get(tenantKey(storePrefix, cluster), { atRevision })).entry,
      onTakenOver: (cluster) => this.#toTell.set(cluster, this.#toTell.get(cluster)),
    });
    this.#teller = teller;
    const at = await store.revision();
    const options = { store, clock, at, signal, ready: () => listener.ready?.() };
    await scan(options, prefixRange(`${tenantPrefix(storePrefix, rootPath)}${tenantsPrefix}`), (entry) =>
      teller.tenant(entry),
    );
    await scan(options, prefixRange(clustersPrefix(storePrefix)), (entry) => {
      const nobodys = teller.initial(entry);
      return nobodys === undefined ? undefined : prefixRange(tenantPrefix(storePrefix, nobodys)).end;
    });
    if (signal.aborted) return;
    this.#watch = store.watch({
      prefix: clustersPrefix(storePrefix),
      fromRevision: (at + 1) as Revision,
      previous: true,
    });
    listener.synced();
    await teller.deletionsFound(at, signal);
    await this.#tellStored(listener, at, signal);
  }

  async #tellAll(listener: FeedListener, signal: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    const [watch, teller] = [this.#watch, this.#teller!];
    if (!watch) return;
    let sinceMs = clock.monotonicMs();
    for (let batch = await watch.next(); batch && !signal.aborted; batch = await watch.next()) {
      const waiting = teller.batch(batch.events, batch.revision);
      if (waiting) await waiting;
      if (this.#toTell.size > 0) await this.#tellStored(listener, batch.revision, signal);
      if (clock.monotonicMs() - sinceMs <= sliceMs) continue;
      // Buffered batches arrive without waiting, so yield to the event loop.
      await giveWay(clock);
      sinceMs = clock.monotonicMs();
    }
  }

  async #tellStored(listener: FeedListener, at: Revision, signal: AbortSignal): Promise<void> {
    const { store, clock, storePrefix } = this.#world;
    const teller = this.#teller!;
    // Requests that arrive meanwhile are handled after the next batch.
    const clusters = [...this.#toTell.keys()];
    for (const cluster of clusters) {
      const mark = this.#toTell.get(cluster);
      this.#toTell.delete(cluster);
      if (!teller.has(cluster)) continue;
      const options = { store, clock, at, signal, ready: () => listener.ready?.() };
      await scan(options, prefixRange(tenantPrefix(storePrefix, cluster)), (entry) => {
        teller.initial(entry);
      });
      if (signal.aborted) return;
      // Skip the call if `retell` was called again meanwhile: the listener could not distinguish the two.
      if (!this.#toTell.has(cluster)) listener.clusterTold(cluster, mark);
      await teller.deletionsFound(at, signal);
    }
  }

  #end(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#teller = undefined;
    this.#toTell.clear();
  }
}
