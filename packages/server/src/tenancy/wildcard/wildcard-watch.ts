/**
 * Watch of one resource in all control planes: a single watch of the store, in which changes of tenants and of their objects have one
 * order. The cost depends on the changes, not on the number of tenants: a tenant has state here only after its first change.
 *
 *     tenant created, restored, adopted  ADDED, for all its visible objects
 *     tenant destroyed, retained         DELETED, for all its visible objects
 *     another API server serves it       DELETED, for all its visible objects; nothing of what its range contains afterwards
 *     it serves its data again           ADDED, for all its visible objects
 *     tenant held by a migration         nothing: its objects exist, and do not change
 *     tenant materialised, or its keys created: the objects that look different
 */

import type { Clock } from '@hangar/core';
import type { Entry, Revision, Store, StoreEvent, Watch, WatchBatch } from '@hangar/store';
import { clustersPrefix, rootPath } from '../layout.ts';
import { changesOf, difference, endOf } from './changes.ts';
import { publicKeysOf } from './foundations.ts';
import type { Foundations, Records } from './foundations.ts';
import { clusterKeys } from './place.ts';
import type { Place } from './place.ts';
import { clusterSnapshot } from './snapshot.ts';
import { touchedClusters } from './touched.ts';
import type { Touched } from './touched.ts';

export interface WildcardWatchOptions {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly place: Place;
  readonly foundations: Promise<Foundations>;
  readonly fromRevision: Revision;
  /**
   * Adds a progress mark after batches whose objects are older than the batch, such as those of an adopted tenant: otherwise a client that
   * resumes from the last object would go far back.
   */
  readonly marksOldObjects?: boolean;
}

/** Maximum number of tenants with cached records; others are read again at their next change. */
const knownMax = 10_000;

export class WildcardWatch implements Watch {
  readonly #options: WildcardWatchOptions;
  readonly #source: Watch;
  readonly #split: ReturnType<typeof clusterKeys>;
  /** As of the last batch. */
  readonly #known = new Map<string, Records>();
  #mark: WatchBatch | undefined;
  #failure: Error | undefined;

  constructor(options: WildcardWatchOptions) {
    const { store, storePrefix, fromRevision } = options;
    this.#options = options;
    this.#split = clusterKeys(storePrefix);
    this.#source = store.watch({ prefix: clustersPrefix(storePrefix), fromRevision, previous: true });
    // `next` reports the error.
    options.foundations.catch(() => undefined);
  }

  async next(): Promise<WatchBatch | undefined> {
    if (this.#failure) throw this.#failure;
    const mark = this.#mark;
    this.#mark = undefined;
    if (mark) return mark;
    try {
      return await this.#next();
    } catch (error) {
      // The failed batch is a gap, so the watch must not continue.
      this.#failure = error as Error;
      this.close();
      throw error;
    }
  }

  async #next(): Promise<WatchBatch | undefined> {
    const { place, marksOldObjects } = this.#options;
    for (;;) {
      const batch = await this.#source.next();
      if (!batch || batch.events.length === 0) return batch;
      const touched = touchedClusters(batch.events, place, this.#split);
      if (touched.size === 0) continue;
      const { revision } = batch;
      const events: StoreEvent[] = [];
      for (const [cluster, what] of touched) {
        for (const event of await this.#changes(cluster, what, revision)) events.push(event);
      }
      if (events.length === 0) continue;
      if (marksOldObjects && events.some((event) => event.type === 'put' && event.entry.modRevision < revision)) {
        this.#mark = { revision, events: [] };
      }
      return { revision, events };
    }
  }

  requestProgress(): void {
    this.#source.requestProgress();
  }

  close(): void {
    this.#source.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }

  async #changes(cluster: string, touched: Touched, revision: Revision): Promise<readonly StoreEvent[]> {
    const foundations = await this.#options.foundations;
    const [before, after] = await this.#course(foundations, cluster, touched, revision);
    const [wasVisible, isVisible] = [foundations.isVisible(cluster, before), foundations.isVisible(cluster, after)];
    if (!wasVisible && !isVisible) return [];
    const seen = (records: Records, at: number): Promise<readonly Entry[]> =>
      clusterSnapshot(
        { ...this.#options, foundations, at: at as Revision },
        foundations.view(cluster, records),
        cluster,
      );
    const ground = { prefix: foundations.prefixOf(cluster), foundation: foundations.of(cluster, before) };
    const isTouched = touched.own.size > 0 || touched.hidden.size > 0;
    if (!wasVisible) return difference([], await seen(after, revision));
    if (!isVisible) {
      if (touched.identity?.type === 'delete') return endOf(touched, ground, foundations.bornKeys);
      // Retained data stays in the store but is no longer visible.
      return difference(await seen(before, isTouched ? revision - 1 : revision), []);
    }
    if (foundations.isSame(before, after)) return isTouched ? changesOf(touched, ground) : [];
    return difference(await seen(before, revision - 1), await seen(after, revision));
  }

  /** Returns the records of the control plane before the revision and after it. */
  async #course(
    foundations: Foundations,
    cluster: string,
    touched: Touched,
    revision: Revision,
  ): Promise<[before: Records, after: Records]> {
    const known = this.#known.get(cluster);
    const after = known ? stepped(known, touched, 'forwards') : await foundations.records(cluster, revision);
    const before = known ?? stepped(after, touched, 'backwards');
    if (cluster !== rootPath) {
      if (!known && this.#known.size >= knownMax) this.#known.clear();
      this.#known.set(cluster, after);
    }
    return [before, after];
  }
}

function stepped(records: Records, { tenant, identity, keys }: Touched, way: 'forwards' | 'backwards'): Records {
  if (!tenant && !identity && !keys) return records;
  const entryAt = (event: StoreEvent): Entry | undefined =>
    way === 'backwards' ? event.previous : event.type === 'put' ? event.entry : undefined;
  const keysEntry = keys && entryAt(keys);
  return {
    hasTenant: tenant ? entryAt(tenant) !== undefined : records.hasTenant,
    identity: identity ? entryAt(identity) : records.identity,
    keys: keys ? keysEntry && publicKeysOf(keysEntry) : records.keys,
  };
}
