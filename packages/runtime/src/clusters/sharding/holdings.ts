/** All clusters that this process knows of, and how far it is with each. */

import type { Clock, Logger } from '@hangar/core';
import type { Claim, DiscoveredCluster } from '../contract.ts';
import type { WeighedCluster } from './calibrate.ts';
import { Holding } from './holding.ts';
import type { ShardTimings } from './timings.ts';

export interface HoldingsOptions {
  readonly clock: Clock;
  readonly timings: ShardTimings;
  readonly log: Logger | undefined;
  readonly onFollow: (holding: Holding) => void;
  /** One has come to rest, or is not waited for any more: others may have to be told. */
  readonly onRest: () => void;
  readonly onAbandoned: () => void;
}

type Followed = Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;

export class Holdings {
  readonly #options: HoldingsOptions;
  readonly #followed = new Set<Holding>();
  /** Also of clusters that are not followed any more. */
  readonly #draining = new Set<Holding>();
  readonly #lastLabels = new Map<string, string>();
  #clusters: readonly WeighedCluster[] | undefined;

  constructor(options: HoldingsOptions) {
    this.#options = options;
  }

  /** `settle`: whether other labels than before have to be seen by others first. */
  follow(cluster: Followed, claim: Claim, { settle }: { readonly settle: boolean }): () => void {
    const { clock, timings, log, onFollow, onAbandoned } = this.#options;
    const holding = new Holding({
      cluster,
      claim,
      clock,
      drainTimeoutMs: timings.drainTimeoutMs,
      log,
      onRest: (rested) => this.#rested(rested),
      onAbandoned: ({ cluster }) => {
        log?.error('a cluster does not come to rest: others may take it now; nothing can be written from here', {
          cluster: cluster.name,
        });
        onAbandoned();
        this.#options.onRest();
      },
    });
    const labels = JSON.stringify(cluster.labels ?? {});
    const before = this.#lastLabels.get(cluster.name);
    if (settle && before !== undefined && before !== labels) {
      holding.notBeforeMs = clock.monotonicMs() + timings.labelSettleMs;
    }
    this.#lastLabels.set(cluster.name, labels);
    this.#followed.add(holding);
    this.#clusters = undefined;
    onFollow(holding);
    return () => this.#unfollow(holding);
  }

  /** Those that are followed. */
  get all(): ReadonlySet<Holding> {
    return this.#followed;
  }

  /** The same array as long as they are the same. */
  get clusters(): readonly WeighedCluster[] {
    return (this.#clusters ??= Array.from(this.#followed, ({ cluster }) => cluster));
  }

  /** What others must wait for. */
  draining(): string[] {
    return [...this.#draining].filter(({ isDraining }) => isDraining).map(({ hashText }) => hashText);
  }

  /** Nothing of it is under way here. */
  isAtRest({ cluster }: Holding): boolean {
    for (const draining of this.#draining) if (draining.cluster.name === cluster.name) return false;
    return true;
  }

  end(holding: Holding, why: string): void {
    if (holding.state !== 'held') return;
    this.#draining.add(holding);
    holding.end(why);
  }

  endAll(why: string): void {
    for (const holding of this.#followed) this.end(holding, why);
  }

  #unfollow(holding: Holding): void {
    if (!this.#followed.delete(holding)) return;
    this.#clusters = undefined;
    const { clock, timings } = this.#options;
    const { name } = holding.cluster;
    // Kept for a while: it may come back with other labels.
    clock.after(timings.labelSettleMs, () => {
      for (const { cluster } of this.#followed) if (cluster.name === name) return;
      this.#lastLabels.delete(name);
    });
    this.end(holding, 'the cluster is not known any more');
  }

  #rested(holding: Holding): void {
    this.#draining.delete(holding);
    this.#options.onRest();
  }
}
