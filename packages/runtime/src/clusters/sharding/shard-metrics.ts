/** What a peer counts of its shard. */

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

  /** `read` is asked when somebody wants to see them. */
  constructor(registry: MetricsRegistry | undefined, group: string, read: () => ShardGauges) {
    this.#labels = labelText({ group });
    if (!registry) return;
    const gauge = (name: string, help: string): Gauge => registry.register(new Gauge(`hangar_shard_${name}`, help));
    const counter = (name: string, help: string): Counter =>
      registry.register(new Counter(`hangar_shard_${name}`, help));
    const followed = gauge('known_clusters', 'Clusters that this process knows of.');
    const owned = gauge('owned_clusters', 'Clusters that this process works on.');
    const unowned = gauge('unowned_clusters', 'Clusters that this process knows of and nobody confirms to work on.');
    const peers = gauge('peers', 'Members of the ring, as this process sees it.');
    const epoch = gauge('epoch', 'Epoch of the ring, as this process sees it.');
    this.#leaseWrites = counter('lease_writes_total', 'Writes of leases that this process has sent.');
    this.#abandoned = counter(
      'drains_abandoned_total',
      'Clusters that did not come to rest in time after they were given up.',
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
