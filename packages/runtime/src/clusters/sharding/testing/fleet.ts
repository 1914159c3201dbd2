/**
 * Peers that share clusters on a real API server in this process, in virtual time, each with a connection that can fail, and the holders of
 * clusters. Every acquisition asserts that no other peer may work on the cluster.
 */

import { strict as assert } from 'node:assert';
import { RestClient } from '@hangar/client';
import { seededRandom } from '@hangar/core';
import { faultyTransport, startTestCluster, virtualClock } from '@hangar/testkit';
import type { FaultyTransport, TestCluster, VirtualClock } from '@hangar/testkit';
import { MetricsRegistry } from '../../../metrics/registry.ts';
import type { DiscoveredCluster, Ownership } from '../../contract.ts';
import { ShardCoordinator } from '../shard-coordinator.ts';
import type { ShardCoordinatorOptions } from '../shard-coordinator.ts';

export type FleetCluster = Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;

export const clustersNamed = (count: number): FleetCluster[] =>
  Array.from({ length: count }, (_, i) => ({ name: `cluster-${i}` }));

export type FleetPeerOptions = Omit<ShardCoordinatorOptions, 'client' | 'metrics' | 'clock' | 'random'>;

/** One process: its coordinator and its clusters. */
export class FleetPeer {
  readonly coordinator: ShardCoordinator;
  readonly metrics = new MetricsRegistry();
  readonly faults: FaultyTransport;
  readonly held = new Map<string, Ownership>();
  /** Returns the drain time of a cluster. */
  drainMs: (cluster: string) => number = () => 0;
  readonly #fleet: Fleet;
  readonly #stop = new AbortController();
  readonly #unfollow = new Map<string, () => void>();
  #done: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, options: FleetPeerOptions, seed: number) {
    const { clock, server } = fleet;
    this.#fleet = fleet;
    this.faults = faultyTransport(server.transportOf(), { clock });
    const client = new RestClient(this.faults, { clock, random: seededRandom(seed), retry: false });
    this.coordinator = new ShardCoordinator({
      ...options,
      client,
      metrics: this.metrics,
      clock,
      random: seededRandom(seed + 1),
    });
  }

  follow(cluster: FleetCluster): void {
    const { name } = cluster;
    const { clock, peers } = this.#fleet;
    const unfollow = this.coordinator.follow(cluster, {
      acquired: (ownership) => {
        for (const other of peers) {
          if (other === this || other.group !== this.group) continue;
          assert.equal(other.held.get(name)?.remainingMs() ?? 0, 0, `${name} is held twice`);
        }
        this.held.set(name, ownership);
        ownership.signal.addEventListener('abort', () => this.held.delete(name), { once: true });
      },
      released: () => new Promise((resolve) => clock.after(this.drainMs(name), resolve)),
    });
    this.#unfollow.set(name, unfollow);
  }

  group = '';

  unfollow(name: string): void {
    this.#unfollow.get(name)?.();
    this.#unfollow.delete(name);
  }

  start(): void {
    this.#done = this.coordinator.run(this.#stop.signal);
  }

  /** Stops gracefully. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#done;
  }

  /** Disconnects the peer: other peers consider it dead. */
  cut(): void {
    this.faults.hang();
    this.faults.silenceWatches();
  }

  /** Value of a metric of this process; NaN: not present. */
  metric(name: string): number {
    return Number(new RegExp(`^hangar_shard_${name}{.*} (.*)$`, 'm').exec(this.metrics.text())?.[1]);
  }
}

export class Fleet implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly server: TestCluster;
  readonly clusters: readonly FleetCluster[];
  readonly peers: FleetPeer[] = [];

  constructor(clock: VirtualClock, server: TestCluster, clusters: readonly FleetCluster[]) {
    this.clock = clock;
    this.server = server;
    this.clusters = clusters;
  }

  static async open(clusters: readonly FleetCluster[], seed = 1): Promise<Fleet> {
    const clock = virtualClock({ seed });
    return new Fleet(clock, await startTestCluster({ clock, random: seededRandom(seed) }), clusters);
  }

  /** Starts a process that follows all clusters. */
  start(options: FleetPeerOptions, { latencyMs = 0 } = {}): FleetPeer {
    const peer = new FleetPeer(this, options, 1_000 + 10 * this.peers.length);
    peer.group = options.group ?? 'default';
    if (latencyMs > 0) peer.faults.delay(latencyMs);
    this.peers.push(peer);
    for (const cluster of this.clusters) peer.follow(cluster);
    peer.start();
    return peer;
  }

  /** Starts peers x-0, x-1, … and waits until all clusters are shared. */
  async startShared(count: number, options: Partial<FleetPeerOptions> = {}): Promise<FleetPeer[]> {
    const peers = Array.from({ length: count }, (_, i) => this.start({ ...options, peer: `x-${i}` }));
    await this.clock.until(() => this.isShared(peers) && peers.every(({ held }) => held.size > 0));
    return peers;
  }

  /** Returns the virtual time until the condition holds; fails after `withinMs`. */
  async until(isSo: () => boolean, withinMs = 30_000): Promise<number> {
    const startedMs = this.clock.monotonicMs();
    await this.clock.until(isSo, { withinMs });
    return this.clock.monotonicMs() - startedMs;
  }

  /** Reports whether every cluster is held by exactly one of these. */
  isShared(peers: readonly FleetPeer[] = this.peers): boolean {
    const held = peers.flatMap((peer) => [...peer.held.keys()]);
    return held.length === this.clusters.length && new Set(held).size === held.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { faults } of this.peers) faults.heal();
    await this.clock.run(Promise.all(this.peers.map((peer) => peer.stop())));
    await this.server[Symbol.asyncDispose]();
  }
}
