/** Metrics of a peer and its shard. */

import { Counter, Gauge, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../../metrics/registry.ts';

export interface ShardGauges {
  readonly followed: number;
  readonly owned: number;
  readonly unowned: number;
  readonly peers: number;
  readonly epoch: number;
}

export class ShardMetrics {
  readonly #labels: string;
  readonly #leaseWrites: Counter | undefined;
  readonly #abandoned: Counter | undefined;

  /** `read` is called on scrape. */
  constructor(registry: MetricsRegistry | undefined, group: string, read: () => ShardGauges) {
    this.#labels = labelText({ group });
    if (!registry) return;
    const gauge = (name: string, help: string): Gauge => registry.register(new Gauge(`hangar_shard_${name}`, help));
    const counter = (name: string, help: string): Counter =>
      registry.register(new Counter(`hangar_shard_${name}`, help));
    const followed = gauge('known_clusters', 'Number of clusters that this process has discovered.');
    const owned = gauge('owned_clusters', 'Number of clusters that this process owns.');
    const unowned = gauge('unowned_clusters', 'Number of discovered clusters that no process has confirmed to own.');
    const peers = gauge('peers', 'Number of members of the ring as observed by this process.');
    const epoch = gauge('epoch', 'Epoch of the ring as observed by this process.');
    this.#leaseWrites = counter('lease_writes_total', 'Total number of lease writes of this process.');
    this.#abandoned = counter(
      'drains_abandoned_total',
      'Total number of released clusters that did not drain in time.',
    );
    for (const family of [this.#leaseWrites, this.#abandoned]) family.add(this.#labels, 0);
    registry.onScrape(() => {
      const now = read();
      followed.set(this.#labels, now.followed);
      owned.set(this.#labels, now.owned);
      unowned.set(this.#labels, now.unowned);
      peers.set(this.#labels, now.peers);
      epoch.set(this.#labels, now.epoch);
    });
  }

  leaseWritten(): void {
    this.#leaseWrites?.add(this.#labels);
  }

  drainAbandoned(): void {
    this.#abandoned?.add(this.#labels);
  }
}
