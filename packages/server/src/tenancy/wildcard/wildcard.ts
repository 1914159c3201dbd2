/**
 * View of all control planes: the management plane and all tenants whose data it serves, also suspended ones. Controllers of the same
 * process use this class; others use `/clusters/STAR/control-plane/` (see server.ts), where STAR is `*`.
 *
 * A list shows one revision; a watch from the next revision contains all later changes, in order.
 */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision, Store, StoreEvent, Watch } from '@hangar/store';
import type { ControlPlane } from '../../control-plane.ts';
import type { ResourceName } from '../../resources/catalogue.ts';
import type { Resource } from '../../resources/resource.ts';
import { noSuchResource } from '../../resources/unknown.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { Foundations } from './foundations.ts';
import { clusterKeys, placeOf } from './place.ts';
import type { Place } from './place.ts';
import { wildcardResource } from './resource.ts';
import type { WildcardResource } from './resource.ts';
import { beginning, snapshot } from './snapshot.ts';
import type { Position } from './snapshot.ts';
import { WildcardWatch } from './wildcard-watch.ts';

export type WildcardWorld = Pick<
  TenantWorld,
  'store' | 'storePrefix' | 'clock' | 'base' | 'url' | 'servingCa' | 'hasNodes'
>;

export interface WildcardOptions {
  readonly world: WildcardWorld;
  readonly root: Pick<ControlPlane, 'catalogue'>;
}

/** An object of a control plane. */
export interface ClusterObject {
  /** Name of the control plane; `root` is the management plane. */
  readonly cluster: string;
  readonly entry: Entry;
  /** Returns a new copy, with its `resourceVersion` and `metadata.clusterName`. */
  object(): KubeObject;
}

export interface ClusterEvent extends ClusterObject {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Previous state. For a deletion, `entry` is the previous state. */
  readonly previous?: Entry;
}

export interface ClusterBatch {
  readonly revision: Revision;
  /** All events of the revision; empty: a progress mark, all events up to it were delivered. */
  readonly events: readonly ClusterEvent[];
}

/** Same contract as the watch of the store: one `next` at a time, `Compacted` if the reader is too slow. */
export interface ClusterWatch extends AsyncIterable<ClusterBatch> {
  next(): Promise<ClusterBatch | undefined>;
  requestProgress(): void;
  close(): void;
}

export interface ReachOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
}

export interface ListOptions extends ReachOptions {
  /** Absent: the current one. */
  readonly atRevision?: Revision;
}

export interface ClusterList {
  readonly revision: Revision;
  /** Sorted by the name of the control plane, then by key. Rejects with `Compacted` if it is read too slowly. */
  readonly pages: AsyncIterable<readonly ClusterObject[]>;
}

export class Wildcard {
  readonly #world: WildcardWorld;
  readonly #root: WildcardOptions['root'];
  readonly #split: ReturnType<typeof clusterKeys>;

  constructor({ world, root }: WildcardOptions) {
    this.#world = world;
    this.#root = root;
    this.#split = clusterKeys(world.storePrefix);
  }

  get store(): Store {
    return this.#world.store;
  }

  readonly clusterOf = ({ key }: Pick<Entry, 'key'>): string => this.#split(key)?.cluster ?? '';

  /** Returns the position at which a list that stopped before this entry continues. */
  positionOf({ key }: Pick<Entry, 'key'>, { own }: Place): Position {
    const { cluster, rest } = this.#split(key)!;
    return { cluster, key: rest.slice(own.length) };
  }

  /** Rejects with a StatusError of 404 if no control plane can have such objects. */
  async list(name: ResourceName, { namespace = '', atRevision }: ListOptions = {}): Promise<ClusterList> {
    const { stored, placePrefix } = this.#insistOn(name);
    const revision = atRevision ?? (await this.store.revision());
    const entries = this.entries(placeOf(placePrefix, namespace), revision);
    return { revision, pages: this.#objects(entries, stored) };
  }

  /** Starts after the revision of a list. Throws the same errors as `list`. */
  watch(name: ResourceName, after: Revision, { namespace = '' }: ReachOptions = {}): ClusterWatch {
    const { stored, placePrefix } = this.#insistOn(name);
    const source = this.watchEntries(placeOf(placePrefix, namespace), (after + 1) as Revision);
    return new ObjectWatch(source, (event, revision) => this.#event(event, revision, stored));
  }

  /** Yields the stored entries in pieces. */
  async *entries(place: Place, at: Revision, from: Position = beginning): AsyncGenerator<readonly Entry[], void, void> {
    const { store, clock } = this.#world;
    yield* snapshot({ store, clock, place, foundations: await this.#foundations(place), at }, from);
  }

  watchEntries(place: Place, fromRevision: Revision, { addsMarks = false } = {}): Watch {
    const foundations = this.#foundations(place);
    return new WildcardWatch({ ...this.#world, place, foundations, fromRevision, addsMarks });
  }

  /** Returns undefined if no control plane can have such objects. */
  resource(name: ResourceName): WildcardResource | undefined {
    const known = (): Resource | undefined => this.#root.catalogue.find(name);
    return wildcardResource({ name, known, clusterName: this.clusterOf });
  }

  #insistOn(name: ResourceName): WildcardResource {
    const resource = this.resource(name);
    if (!resource) throw noSuchResource();
    return resource;
  }

  async #foundations(place: Place): Promise<Foundations> {
    return new Foundations(this.#world, await this.#world.base(), place);
  }

  async *#objects(
    pages: AsyncIterable<readonly Entry[]>,
    stored: WildcardResource['stored'],
  ): AsyncGenerator<readonly ClusterObject[], void, void> {
    for await (const entries of pages) {
      yield entries.map((entry) => ({ cluster: this.clusterOf(entry), entry, object: () => stored.object(entry) }));
    }
  }

  #event(event: StoreEvent, revision: Revision, stored: WildcardResource['stored']): ClusterEvent {
    const { previous } = event;
    const isDeleted = event.type === 'delete';
    const entry = isDeleted ? previous! : event.entry;
    return {
      cluster: this.clusterOf(entry),
      type: isDeleted ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED',
      entry,
      ...(previous && { previous }),
      object: () => stored.object(entry, isDeleted ? revision : entry.modRevision),
    };
  }
}

class ObjectWatch implements ClusterWatch {
  readonly #source: Watch;
  readonly #event: (event: StoreEvent, revision: Revision) => ClusterEvent;

  constructor(source: Watch, event: (event: StoreEvent, revision: Revision) => ClusterEvent) {
    this.#source = source;
    this.#event = event;
  }

  async next(): Promise<ClusterBatch | undefined> {
    const batch = await this.#source.next();
    if (!batch) return undefined;
    const { revision, events } = batch;
    return { revision, events: events.map((event) => this.#event(event, revision)) };
  }

  requestProgress(): void {
    this.#source.requestProgress();
  }

  close(): void {
    this.#source.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ClusterBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }
}
