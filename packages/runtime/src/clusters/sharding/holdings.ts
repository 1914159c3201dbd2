/** All clusters that this process has discovered, with the state of each. */

import type { Clock, Logger } from '@hangar/core';
import type { Claim, DiscoveredCluster } from '../contract.ts';
import type { WeighedCluster } from './calibrate.ts';
import { Holding } from './holding.ts';
import type { ShardTimings } from './timings.ts';

export interface HoldingsOptions {
  readonly clock: Clock;
  readonly timings: ShardTimings;
  readonly log: Logger | undefined;
  /** Static shards: labels determine the owner. */
  readonly settleLabels: boolean;
  readonly onFollow: (holding: Holding) => void;
  /** Called when a drain finished or timed out: peers may need to be notified. */
  readonly onRest: () => void;
  readonly onAbandoned: () => void;
}

type Followed = Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;

export class Holdings {
  readonly #options: HoldingsOptions;
  readonly #followed = new Set<Holding>();
  /** Includes clusters that are no longer followed. */
  readonly #draining = new Map<string, Set<Holding>>();
  #drainingCount = 0;
  readonly #lastLabels = new Map<string, string>();
  #clusters: readonly WeighedCluster[] | undefined;

  constructor(options: HoldingsOptions) {
    this.#options = options;
  }

  follow(cluster: Followed, claim: Claim): () => void {
    const { clock, timings, log, onFollow, onAbandoned } = this.#options;
    const holding = new Holding({
      cluster,
      claim,
      clock,
      drainTimeoutMs: timings.drainTimeoutMs,
      log,
      onRest: (rested, wasAbandoned) => this.#rested(rested, wasAbandoned),
      onAbandoned: ({ cluster }) => {
        log?.error(
          'cluster did not drain in time: releasing it to other processes; writes of this process are fenced',
          {
            cluster: cluster.name,
          },
        );
        this.#drainingCount--;
        onAbandoned();
        this.#options.onRest();
      },
    });
    if (this.#options.settleLabels) this.#settleLabels(holding);
    this.#followed.add(holding);
    this.#clusters = undefined;
    onFollow(holding);
    return () => this.#unfollow(holding);
  }

  /** Updates labels or weight: the cluster stays as long as its owner is the same. */
  changed(cluster: Followed): void {
    for (const holding of this.#followed) {
      if (holding.cluster.name !== cluster.name) continue;
      holding.changed(cluster);
      if (this.#options.settleLabels) this.#settleLabels(holding);
      this.#clusters = undefined;
      this.#options.onFollow(holding);
    }
  }

  /** The followed clusters. */
  get all(): ReadonlySet<Holding> {
    return this.#followed;
  }

  /** The same array as long as the clusters are unchanged. */
  get clusters(): readonly WeighedCluster[] {
    return (this.#clusters ??= Array.from(this.#followed, ({ cluster }) => cluster));
  }

  /** Clusters that other peers must wait for. */
  draining(): string[] {
    const all = [...this.#draining.values()].flatMap((holdings) => [...holdings]);
    return all.filter(({ isDraining }) => isDraining).map(({ hashText }) => hashText);
  }

  /** Number of draining clusters. */
  get drainingCount(): number {
    return this.#drainingCount;
  }

  /** Reports whether no work of the cluster runs here. */
  isAtRest({ cluster }: Holding): boolean {
    return !this.#draining.has(cluster.name);
  }

  /** Ends the holding gracefully: running work may finish. */
  end(holding: Holding, why: string): void {
    if (holding.state !== 'held') return;
    const { name } = holding.cluster;
    const ofName = this.#draining.get(name) ?? new Set();
    this.#draining.set(name, ofName.add(holding));
    this.#drainingCount++;
    holding.end(why);
  }

  /** Ends all holdings at once: no further writes, not even by running work. */
  endAll(why: string): void {
    for (const holding of this.#followed) this.end(holding, why);
    for (const ofName of this.#draining.values()) for (const holding of ofName) holding.end(why, true);
  }

  #unfollow(holding: Holding): void {
    if (!this.#followed.delete(holding)) return;
    this.#clusters = undefined;
    if (this.#options.settleLabels) this.#forgetLabels(holding);
    this.end(holding, 'the cluster is no longer discovered');
  }

  #rested(holding: Holding, wasAbandoned: boolean): void {
    const { name } = holding.cluster;
    const ofName = this.#draining.get(name);
    ofName?.delete(holding);
    if (ofName?.size === 0) this.#draining.delete(name);
    if (!wasAbandoned) this.#drainingCount--;
    this.#options.onRest();
  }

  /** A cluster with changed labels is not acquired before other peers can have observed the change. */
  #settleLabels(holding: Holding): void {
    const { clock, timings } = this.#options;
    const { name, labels } = holding.cluster;
    const text = JSON.stringify(labels);
    const before = this.#lastLabels.get(name);
    if (before !== undefined && before !== text) holding.notBeforeMs = clock.monotonicMs() + timings.labelSettleMs;
    this.#lastLabels.set(name, text);
  }

  /** Delayed: the cluster may return with other labels. */
  #forgetLabels({ cluster: { name } }: Holding): void {
    const { clock, timings } = this.#options;
    clock.after(timings.labelSettleMs, () => {
      for (const { cluster } of this.#followed) if (cluster.name === name) return;
      this.#lastLabels.delete(name);
    });
  }
}
