/**
 * Connects providers with controllers. The engine keeps a `Member` for every discovered cluster and forwards events to it. It never waits
 * for a cluster, so that no cluster delays another.
 *
 *   const engine = new ClusterEngine({ provider: kubeconfigSecrets({ … }) });
 *   engine.addAware(controller);
 *   await engine.run(signal);
 */

import type { ApiObject, Kind } from '@hangar/client';
import { aborted, attempted, orAborted, systemClock, systemRandom } from '@hangar/core';
import type { BackOff, Clock, Logger, Random } from '@hangar/core';
import type { IndexFunction } from '../../cache/contract.ts';
import { localCluster } from '../../cluster.ts';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { MetricsRegistry } from '../../metrics/registry.ts';
import type { Aware, Clusters, Coordinator, Discovery, Provider } from '../contract.ts';
import { Member } from './member.ts';
import { EngineMetrics } from './metrics.ts';
import { soleOwner } from './sole-owner.ts';
import { Starts } from './starts.ts';
import type { ClusterState, ClusterStatus } from './status.ts';
import type { AddedIndex, EngineWorld } from './world.ts';

/** Options of `ClusterEngine`. */
export interface ClusterEngineOptions {
  readonly provider: Provider;
  /** Absent: this process owns all clusters. */
  readonly coordinator?: Coordinator;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  readonly metrics?: MetricsRegistry;
  /** Maximum time to open a cluster and to sync its caches. */
  readonly engageTimeoutMs?: number;
  /** Maximum time for running work to finish after a cluster was released. Later writes are fenced. */
  readonly drainTimeoutMs?: number;
  /** Maximum number of clusters that are opened at the same time. Clusters that only wait for the network do not count (see `Starts`). */
  readonly openConcurrency?: number;
  /** Waits this time after a change of a configuration, to combine several changes. */
  readonly debounceMs?: number;
  /** Back-off between attempts to open a cluster. */
  readonly backOff?: BackOff;
}

/** A cluster that is still opening after this time waits for the network. */
const lendAfterMs = 100;

/** Opens the clusters of a provider and engages aware components with them. */
export class ClusterEngine implements Clusters {
  readonly #provider: Provider;
  readonly #world: EngineWorld & { readonly awares: Set<Aware>; readonly indexes: AddedIndex[] };
  readonly #members = new Map<ClusterName, Member>();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #isRunning = false;

  constructor(options: ClusterEngineOptions) {
    const { clock = systemClock, openConcurrency = 64, log } = options;
    if (openConcurrency < 1) throw new RuntimeError('InvalidOptions', 'openConcurrency must be at least 1');
    this.#provider = options.provider;
    const retriesAtOnce = Math.ceil(openConcurrency / 4);
    this.#world = {
      clock,
      random: options.random ?? systemRandom,
      log: log?.child({ provider: options.provider.name }),
      metrics: new EngineMetrics(options.metrics, options.provider.name, () => this.#states()),
      coordinator: options.coordinator ?? soleOwner,
      awares: new Set(),
      indexes: [],
      firstStarts: new Starts({ clock, places: openConcurrency, lendAfterMs }),
      retries: new Starts({ clock, places: retriesAtOnce, lendAfterMs }),
      endings: new Set(),
      backOff: options.backOff ?? { baseMs: 1_000, maxMs: 120_000 },
      engageTimeoutMs: options.engageTimeoutMs ?? 30_000,
      drainTimeoutMs: options.drainTimeoutMs ?? 30_000,
      debounceMs: options.debounceMs ?? 1_000,
    };
  }

  /** Engages a component with all current and future clusters. */
  addAware(aware: Aware): void {
    if (this.#world.awares.has(aware)) return;
    this.#world.awares.add(aware);
    for (const member of this.#members.values()) member.addAware(aware);
  }

  /** Adds an index to all current and future clusters. */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    const index = { kind, name, values } as unknown as AddedIndex;
    this.#world.indexes.push(index);
    for (const member of this.#members.values()) member.addIndex(index);
  }

  /** True when the provider reported all initial clusters. They are not necessarily engaged. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when `isSynced` is true. Rejects with `Aborted`. */
  synced(signal?: AbortSignal): Promise<void> {
    return signal ? orAborted(this.#synced.promise, signal) : this.#synced.promise;
  }

  get(name: ClusterName): Cluster {
    const member = this.#members.get(name);
    if (!member) throw new RuntimeError('ClusterNotFound', `cluster "${name}" not found`);
    return member.cluster;
  }

  /** Iterates over the names of the engaged clusters. */
  *names(): Generator<ClusterName, void, void> {
    for (const member of this.#members.values()) if (member.state === 'engaged') yield member.name;
  }

  /** Returns the state of all discovered clusters. */
  status(): ClusterStatus[] {
    return Array.from(this.#members.values(), (member) => member.status());
  }

  /**
   * Runs until the signal is aborted, and resolves when all clusters are drained and stopped, or their timeouts passed. Rejects with the
   * error of the provider or the coordinator. Can be called once.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isRunning) throw new RuntimeError('InvalidOptions', 'the engine is already running');
    this.#isRunning = true;
    const provider = new AbortController();
    const coordinator = new AbortController();
    const coordinating = attempted(() => this.#world.coordinator.run(coordinator.signal));
    const stopping = new AbortController();
    const providing = attempted(() => this.#provider.run(this.#discovery(stopping.signal), provider.signal));
    const failed = new Promise<never>((_resolve, reject) => {
      coordinating.catch(reject);
      providing.catch(reject);
    });
    try {
      await Promise.race([aborted(signal), failed]);
    } finally {
      stopping.abort();
      await this.#stopAll();
      // Only now: clusters may use resources that the provider shares among them, and the next owner receives them drained.
      provider.abort();
      coordinator.abort();
      await Promise.allSettled([providing, coordinating]);
    }
  }

  /** Ignores discoveries after `signal` is aborted. */
  #discovery(signal: AbortSignal): Discovery {
    return {
      discovered: (cluster) => {
        if (signal.aborted || !this.#mayBeCalled(cluster.name)) return;
        let member = this.#members.get(cluster.name);
        if (!member) this.#members.set(cluster.name, (member = this.#newMember(cluster.name)));
        member.discovered(cluster);
      },
      lost: (name) => {
        if (!signal.aborted) this.#members.get(name)?.lost();
      },
      synced: () => {
        this.#isSynced = true;
        this.#synced.resolve();
      },
    };
  }

  /** Names may come from other systems: none of them may be the name of the local cluster. */
  #mayBeCalled(name: ClusterName): boolean {
    if (name !== localCluster) return true;
    this.#world.log?.error('ignoring a cluster without a name: the empty name is the local cluster');
    return false;
  }

  #newMember(name: ClusterName): Member {
    const member: Member = new Member(this.#world, name, () => {
      if (this.#members.get(name) === member) this.#members.delete(name);
    });
    return member;
  }

  async #stopAll(): Promise<void> {
    const members = [...this.#members.values()];
    for (const member of members) member.lost();
    await Promise.all(members.map((member) => member.over()));
    await Promise.all(this.#world.endings);
  }

  #states(): Map<ClusterState, number> {
    const counts = new Map<ClusterState, number>();
    for (const { state } of this.#members.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return counts;
  }
}
