/** Peers that share clusters on a real API server in this process, in virtual time; and who holds what. */

import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { Client } from '@hangar/client';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import type { DiscoveredCluster, Ownership } from '../../contract.ts';
import { ShardCoordinator } from '../shard-coordinator.ts';
import type { ShardCoordinatorOptions } from '../shard-coordinator.ts';

export type FleetCluster = Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;

export const clustersNamed = (count: number): FleetCluster[] =>
  Array.from({ length: count }, (_, i) => ({ name: `cluster-${i}` }));

/** One process: its coordinator, and the clusters that it was given. */
export class FleetPeer {
  readonly name: string;
  readonly coordinator: ShardCoordinator;
  readonly held = new Map<string, Ownership>();
  /** Since when it has had everything that it has. */
  lastAcquiredMs = -Infinity;
  /** How long each cluster takes to come to rest. */
  drainMs = 0;
  readonly #clock: Scheduler;
  readonly #stop = new AbortController();
  readonly #unfollow = new Map<string, () => void>();
  #done: Promise<void> = Promise.resolve();

  constructor(clock: Scheduler, options: ShardCoordinatorOptions) {
    this.#clock = clock;
    this.name = options.peer ?? '';
    this.coordinator = new ShardCoordinator(options);
  }

  follow(cluster: FleetCluster): void {
    const { name } = cluster;
    const unfollow = this.coordinator.follow(cluster, {
      acquired: (ownership) => {
        this.held.set(name, ownership);
        this.lastAcquiredMs = this.#clock.monotonicMs();
        ownership.signal.addEventListener('abort', () => this.held.delete(name), { once: true });
      },
      released: () => new Promise((resolve) => this.#clock.after(this.drainMs, resolve)),
    });
    this.#unfollow.set(name, unfollow);
  }

  unfollow(name: string): void {
    this.#unfollow.get(name)?.();
    this.#unfollow.delete(name);
  }

  start(): void {
    this.#done = this.coordinator.run(this.#stop.signal);
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.#done;
  }
}

export class Fleet implements AsyncDisposable {
  readonly clock: Scheduler;
  readonly server: TestCluster;
  readonly peers: FleetPeer[] = [];
  readonly clusters: readonly FleetCluster[];

  constructor(clock: Scheduler, server: TestCluster, clusters: readonly FleetCluster[]) {
    this.clock = clock;
    this.server = server;
    this.clusters = clusters;
  }

  static async open(clusters: readonly FleetCluster[], seed = 1): Promise<Fleet> {
    const clock = new Scheduler(seededRandom(seed));
    return new Fleet(clock, await startTestCluster({ clock, random: seededRandom(seed + 1) }), clusters);
  }

  /** Follows all clusters and runs. */
  start(options: Omit<ShardCoordinatorOptions, 'client'> & { readonly client?: Client }): FleetPeer {
    const { clock, server } = this;
    const random = seededRandom(1_000 + this.peers.length);
    const peer = new FleetPeer(clock, { client: server.client, clock, random, ...options });
    this.peers.push(peer);
    for (const cluster of this.clusters) peer.follow(cluster);
    peer.start();
    return peer;
  }

  /** Lets time pass until it holds; fails after `withinMs`. */
  async until(holds: () => boolean, withinMs: number, stepMs = 10): Promise<number> {
    const startedMs = this.clock.monotonicMs();
    while (!holds()) {
      const passedMs = this.clock.monotonicMs() - startedMs;
      if (passedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${holds.toString()}`);
      await this.clock.advance(stepMs);
    }
    return this.clock.monotonicMs() - startedMs;
  }

  /** Every cluster is held by exactly one of these. */
  isShared(peers: readonly FleetPeer[] = this.peers): boolean {
    const held = peers.flatMap((peer) => [...peer.held.keys()]);
    return held.length === this.clusters.length && new Set(held).size === held.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clock.run(Promise.all(this.peers.map((peer) => peer.stop())));
    await this.server[Symbol.asyncDispose]();
  }
}
