/**
 * Watch of one resource in all control planes: a single watch of the store, in which changes of tenants and of their objects have one
 * order. The cost depends on the changes, not on the number of tenants: a tenant has state here only after its first change.
 *
 *     tenant created, restored, adopted  ADDED, for all its visible objects
 *     tenant destroyed, retained         DELETED, for all its visible objects
 *     another API server serves it       a mark that names the tenant, then DELETED, for all its visible objects
 *     it serves its data again           ADDED, for all its visible objects
 *     tenant held by a migration         nothing: its objects exist, and do not change
 *     tenant materialised, or its keys created: the objects that look different
 */

import type { Clock } from '@hangar/core';
import type { Entry, Revision, Store, StoreEvent, Watch, WatchBatch } from '@hangar/store';
import type { AnnotatedBatch } from '../../verbs/watch.ts';
import { clustersPrefix, rootPath } from '../layout.ts';
import { changesOf, difference, endOf } from './changes.ts';
import { isRemote, publicKeysOf } from './foundations.ts';
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
   * Adds progress marks. After batches whose objects are older than the batch, such as those of an adopted tenant: otherwise a client that
   * resumes from the last object would go far back. Before the objects of a moved tenant leave the view: see `movedClusterAnnotation`.
   */
  readonly addsMarks?: boolean;
}

/**
 * Annotation of a bookmark that names a control plane. The DELETED events of its objects that follow mean that they left the view, since
 * another API server serves them from now on.
 */
export const movedClusterAnnotation = 'tenancy.hangar.dev/moved-cluster';

/** Maximum number of tenants with cached records; others are read again at their next change. */
const knownMax = 10_000;

export class WildcardWatch implements Watch {
  readonly #options: WildcardWatchOptions;
  readonly #source: Watch;
  readonly #split: ReturnType<typeof clusterKeys>;
  /** As of the last batch. */
  readonly #known = new Map<string, Records>();
  /** Batches that are delivered before the source is read again. */
  readonly #queue: WatchBatch[] = [];
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
    const queued = this.#queue.shift();
    if (queued) return queued;
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
    const { place, addsMarks } = this.#options;
    for (;;) {
      const batch = await this.#source.next();
      if (!batch || batch.events.length === 0) return batch;
      const touched = touchedClusters(batch.events, place, this.#split);
      if (touched.size === 0) continue;
      const { revision } = batch;
      const events: StoreEvent[] = [];
      for (const [cluster, what] of touched) {
        const { changes, isMoved } = await this.#changes(cluster, what, revision);
        if (isMoved && addsMarks) this.#queue.push(movedMark(cluster, revision));
        for (const event of changes) events.push(event);
      }
      if (events.length > 0) this.#queue.push({ revision, events });
      if (addsMarks && events.some((event) => event.type === 'put' && event.entry.modRevision < revision)) {
        this.#queue.push({ revision, events: [] });
      }
      const first = this.#queue.shift();
      if (first) return first;
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

  async #changes(
    cluster: string,
    touched: Touched,
    revision: Revision,
  ): Promise<{ readonly changes: readonly StoreEvent[]; readonly isMoved: boolean }> {
    const foundations = await this.#options.foundations;
    const [before, after] = await this.#course(foundations, cluster, touched, revision);
    const isMoved = foundations.isVisible(cluster, before) && isRemote(after);
    return { changes: await this.#difference(foundations, { cluster, touched, revision, before, after }), isMoved };
  }

  async #difference(
    foundations: Foundations,
    { cluster, touched, revision, before, after }: ClusterChange,
  ): Promise<readonly StoreEvent[]> {
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

interface ClusterChange {
  readonly cluster: string;
  readonly touched: Touched;
  readonly revision: Revision;
  readonly before: Records;
  readonly after: Records;
}

/** Everything before the revision was delivered. */
const movedMark = (cluster: string, revision: Revision): AnnotatedBatch => ({
  revision: (revision - 1) as Revision,
  events: [],
  annotations: { [movedClusterAnnotation]: cluster },
});

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
