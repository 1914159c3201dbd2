/**
 * A fleet of objects of one kind: lists and watches them, keeps the required fields of each, and reports each changed cluster once. While
 * the management plane does not answer, the known state remains.
 */

import type { ApiObject, Client, Kind } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import { ClusterCache } from '@hangar/runtime';
import type { CacheOptions, Informer } from '@hangar/runtime';
import { byAge } from '@hangar/runtime/clusters';
import type { Fleet, FleetCluster, FleetListener } from '../contract.ts';
import { composed } from './compose.ts';
import type { Candidate } from './compose.ts';

export interface FleetOptions {
  /** Not closed here. */
  readonly management: Client;
  /** Label selector. Absent: all objects. */
  readonly selector?: string | undefined;
  /** The only namespace whose Secrets are read. Absent: all of them. */
  readonly namespaceScope?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly cache?: Pick<CacheOptions, 'watchList'> | undefined;
  /** Called with every state of every object, unreduced: for readers of its conditions. Must not retain it. */
  readonly onSeen?: ((object: ApiObject) => void) | undefined;
}

/** Maps objects of a kind to clusters. */
export interface Reading<T extends ApiObject> {
  readonly kind: Kind<T>;
  /** Returns the retained part of an object; undefined: it represents no cluster. */
  readonly reduce: (object: T) => T | undefined;
  readonly clusterOf: (object: T) => string;
  readonly candidateOf: (object: T) => Candidate;
}

const byCluster = 'cluster';

export function informedFleet<T extends ApiObject>(options: FleetOptions, reading: Reading<T>): Fleet {
  return {
    async follow(listener, signal) {
      const { management: client, selector, clock, random, log, cache: cacheOptions } = options;
      const cache = new ClusterCache({ client, clock, random, log, options: cacheOptions });
      cache.addIndex(reading.kind, byCluster, (object) => [reading.clusterOf(object)]);
      const informer = cache.informer(reading.kind, {
        ...(selector ? { labelSelector: selector } : {}),
        transform: (object) => {
          options.onSeen?.(object);
          return reading.reduce(object);
        },
      });
      const told = new Telling(informer, reading, { listener, log, signal });
      const refresh = (object: T): void => told.refresh(reading.clusterOf(object));
      const registration = informer.addHandler({
        onAdd: refresh,
        onUpdate(before, after) {
          // An object that now names another control plane is removed from the previous one.
          if (reading.clusterOf(before) !== reading.clusterOf(after)) refresh(before);
          refresh(after);
        },
        onDelete: refresh,
      });
      const running = cache.start(signal);
      const synced = registration.synced(signal).then(
        () => listener.synced(),
        () => undefined,
      );
      await Promise.all([running, synced]);
    },
  };
}

interface TellingOptions {
  readonly listener: FleetListener;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The clusters that were reported to the listener. */
class Telling<T extends ApiObject> {
  readonly #informer: Informer<T>;
  readonly #reading: Reading<T>;
  readonly #options: TellingOptions;
  readonly #clusters = new Map<string, FleetCluster>();

  constructor(informer: Informer<T>, reading: Reading<T>, options: TellingOptions) {
    this.#informer = informer;
    this.#reading = reading;
    this.#options = options;
  }

  refresh(name: string): void {
    const { listener, signal } = this.#options;
    if (signal.aborted) return;
    const objects = Array.from(this.#informer.byIndex(byCluster, name)).sort(byAge);
    const candidates = objects.map((object) => this.#reading.candidateOf(object));
    const before = this.#clusters.get(name);
    const cluster = composed(name, candidates, before);
    if (cluster === before) return;
    if (!cluster) {
      this.#clusters.delete(name);
      return listener.gone(name);
    }
    this.#clusters.set(name, cluster);
    this.#warn(name, candidates);
    listener.changed(cluster);
  }

  #warn(cluster: string, candidates: readonly Candidate[]): void {
    for (const { source, outOfScope } of candidates) {
      if (!outOfScope) continue;
      const { kind, name } = source;
      const secret = `${outOfScope.namespace}/${outOfScope.name}`;
      this.#options.log.warn('ignoring a kubeconfig: its Secret is not in the namespace of --cluster-namespace-scope', {
        cluster,
        [kind]: name,
        secret,
      });
    }
  }
}
