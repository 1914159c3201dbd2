/**
 * Feeds one generation of the index: one stream for each resource. In a fleet, each stream has the objects of all control planes (the
 * wildcard view); otherwise of one cluster. Built-in resources come from discovery, custom resources from their definitions as they appear.
 */

import { KindMapper } from '@hangar/client';
import type { Client, Kind, UnknownObject } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { APIService } from '@hangar/client/kinds/apiregistration-v1';
import { backOffMs, Permits, sleep } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { resourceKey } from '../index-store/contract.ts';
import type { Batches } from './batches.ts';
import { CustomKinds } from './custom-kinds.ts';
import type { CustomKindsEvents } from './custom-kinds.ts';
import { followedKind } from './followed-kind.ts';
import { KindStream } from './kind-stream.ts';

export interface FeedSource {
  /** Client of the management plane, or of the only cluster: discovery. */
  readonly client: Client;
  /** Client with the objects of all control planes; `metadata.clusterName` is their control plane. Absent: `client` has all objects. */
  readonly fleetClient?: Client | undefined;
  /** Name of the control plane of objects without `metadata.clusterName`. */
  readonly cluster: string;
}

export interface FeedOptions {
  readonly source: FeedSource;
  readonly batches: Batches;
  /** Revision of each resource, by `resourceKey`. */
  readonly progress: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Resources that change every few seconds and are about other objects. */
const unindexed = new Set(['events.', 'events.events.k8s.io', 'leases.coordination.k8s.io']);
const definitions = 'customresourcedefinitions.apiextensions.k8s.io';
/** Lists at the same time: all resources are listed when an index is built, and each page is in memory. */
const listsMax = 4;
const backOff = { baseMs: 500, maxMs: 30_000 };

export class Feed {
  readonly #options: FeedOptions;
  readonly #streams = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  readonly #unsynced = new Set<string>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #limited = new Set<string>();
  readonly #custom: CustomKinds;
  readonly #stop = new AbortController();
  readonly #lists = new Permits(listsMax);
  #hasDefinitions = false;
  /** Definitions that the running list returned, as `cluster/name`. */
  #listed: Set<string> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    const events: CustomKindsEvents = {
      added: (kind) => this.#follow(kind),
      removed: (kind) => this.#unfollow(kind),
      limited: (cluster) => this.#limited.add(cluster),
    };
    this.#custom = new CustomKinds(events, { ownCluster: options.source.cluster });
  }

  /** Resolves when the index has all objects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Reports whether resources of the control plane are left out, because it has too many. */
  isLimited(cluster: string): boolean {
    return this.#limited.has(cluster);
  }

  /** Runs until `close`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, random, log } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      try {
        for (const kind of await this.#builtinKinds()) this.#follow(kind);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn('discovery failed, retrying', { error: error as Error });
        await sleep(clock, backOffMs(backOff, ++failures, random), signal).catch(() => undefined);
      }
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the feed of the index is closing'));
    for (const { stop } of this.#streams.values()) stop.abort(this.#stop.signal.reason);
    await Promise.all(Array.from(this.#streams.values(), ({ ended }) => ended));
  }

  /** Returns the preferred version of each resource, without custom resources and aggregated APIs. */
  async #builtinKinds(): Promise<Kind[]> {
    const { client } = this.#options.source;
    const { signal } = this.#stop;
    const [all, services, custom] = await Promise.all([
      new KindMapper(client).all({ signal }),
      client.list(APIService, { signal }),
      client.metadata.list(CustomResourceDefinition, { signal }),
    ]);
    const elsewhere = new Set(
      services.items.filter(({ spec }) => spec?.service).map(({ spec }) => `${spec!.group}/${spec!.version}`),
    );
    const isCustom = new Set(custom.items.map(({ metadata }) => metadata.name));
    const found = new Map<string, Kind>();
    for (const kind of all) {
      const key = resourceKey({ group: kind.group, resource: kind.plural });
      const isIndexed = kind.verbs.includes('list') && kind.verbs.includes('watch') && !unindexed.has(key);
      if (!isIndexed || isCustom.has(key) || elsewhere.has(kind.apiVersion) || found.has(key)) continue;
      found.set(key, kind);
    }
    if (!found.has(definitions)) throw new Error('the cluster does not serve CustomResourceDefinitions');
    return [...found.values()];
  }

  #follow(kind: Kind): void {
    const { source, progress, ...world } = this.#options;
    const followed = followedKind(kind);
    const key = resourceKey(followed.resource);
    if (this.#streams.has(key) || this.#stop.signal.aborted) return;
    this.#unsynced.add(key);
    const stop = new AbortController();
    const isDefinitions = key === definitions;
    const stream = new KindStream({
      ...world,
      client: source.fleetClient ?? source.client,
      cluster: source.cluster,
      followed,
      lists: this.#lists,
      // All definitions are needed after a restart.
      revision: isDefinitions ? undefined : progress.get(key),
      ...(isDefinitions
        ? {
            onObject: (...change: DefinitionChange) => this.#defined(...change),
            onList: () => void (this.#listed = new Set()),
          }
        : {}),
      onSynced: () => this.#kindSynced(key),
    });
    this.#streams.set(key, { stop, ended: stream.run(stop.signal) });
  }

  #unfollow(kind: Kind): void {
    const { resource } = followedKind(kind);
    const key = resourceKey(resource);
    this.#streams.get(key)?.stop.abort(new Error('the definition was deleted'));
    this.#streams.delete(key);
    void this.#options.batches.add({ type: 'drop', resource });
    this.#kindSynced(key);
  }

  #defined(cluster: string, definition: UnknownObject, isDeleted: boolean): void {
    this.#listed?.add(`${cluster}/${definition.metadata.name}`);
    if (isDeleted) this.#custom.delete(cluster, definition);
    else this.#custom.put(cluster, definition);
  }

  #kindSynced(key: string): void {
    this.#unsynced.delete(key);
    if (key === definitions) {
      this.#hasDefinitions = true;
      if (this.#listed) this.#custom.keepOnly(this.#listed);
      this.#listed = undefined;
    }
    if (this.#hasDefinitions && this.#unsynced.size === 0) this.#synced.resolve();
  }
}

type DefinitionChange = [cluster: string, definition: UnknownObject, isDeleted: boolean];
