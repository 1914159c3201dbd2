/**
 * Everything that happens in all control planes, in order, out of one scan and one watch of the store: for controllers of this
 * process that serve the whole fleet. It costs what happens. What every tenant is born with is told only when it is changed or
 * deleted.
 *
 *     begin ──▶ all Tenants, then all that is stored, as of one revision ──▶ synced ──▶ each revision after it
 *       ▲                                                                                    │
 *       └──────────────────────── back-off ◀── reset ◀── history lost, store away ◀──────────┘
 */

import { asError, assert, backOffMs, breathe, hasCode, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Revision, Store, Watch } from '@hangar/store';
import { clustersPrefix, rootPath, tenantPrefix } from '../layout.ts';
import { tenantsPrefix } from '../tenant.ts';
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
/** For how long revisions are told without giving way. */
const sliceMs = 4;

export class TenantFeed {
  readonly #world: TenantFeedWorld;
  #teller: Teller | undefined;
  #watch: Watch | undefined;
  /** Control planes whose stored objects are to be told, with the mark of who asked last. */
  readonly #toTell = new Map<string, number | undefined>();

  constructor(world: TenantFeedWorld) {
    this.#world = world;
  }

  /** Until the signal, or the end of the store. Never rejects. One listener at a time. */
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
          // What fails again as soon as it has begun must not read everything over and over.
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

  /** Is it there, as of what was told last? `root` is. */
  has(cluster: string): boolean {
    return cluster === rootPath || this.#teller?.has(cluster) === true;
  }

  /** Tells what the control plane has stored once more, in order with what changes; then `clusterTold`, with the mark. */
  retell(cluster: string, mark?: number): void {
    this.#toTell.set(cluster, mark);
    // What is told is of the revision that was told last: the mark makes sure that there is one soon.
    this.#watch?.requestProgress();
  }

  async #begin(listener: FeedListener, signal: AbortSignal): Promise<void> {
    const { store, clock, storePrefix } = this.#world;
    const teller = new Teller({
      storePrefix,
      listener,
      deletedBase: (deleted) => deletedBaseEntry(this.#world, deleted),
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
      // Batches that are buffered come without waiting: others must have their turn.
      await breathe(clock);
      sinceMs = clock.monotonicMs();
    }
  }

  async #tellStored(listener: FeedListener, at: Revision, signal: AbortSignal): Promise<void> {
    const { store, clock, storePrefix } = this.#world;
    const teller = this.#teller!;
    // What is asked for meanwhile has its turn when more of what happens was told.
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
      // Who asked again in the midst of it cannot tell this end from that of what it asked for.
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
