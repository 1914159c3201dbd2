/**
 * One followed cluster: idle → held → draining → idle. It is acquired only after its former work in this process has finished, so that the
 * same process does not work on it twice.
 */

import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { Claim, DiscoveredCluster } from '../contract.ts';
import { hashName, hashText } from './rendezvous.ts';
import type { WeighedCluster } from './calibrate.ts';
import { ShardOwnership } from './ownership.ts';
import type { Validity } from './validity.ts';

export type HoldingState = 'idle' | 'held' | 'draining';

export interface HoldingOptions {
  readonly cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;
  readonly claim: Claim;
  readonly clock: Clock;
  readonly drainTimeoutMs: number;
  readonly log: Logger | undefined;
  /** Called when no work of the cluster runs here. */
  readonly onRest: (holding: Holding, wasAbandoned: boolean) => void;
  /** Called when the drain timed out: other peers stop waiting, this process does not. */
  readonly onAbandoned: (holding: Holding) => void;
}

export class Holding {
  readonly hashText: string;
  /** Earliest time of acquisition, on the monotonic clock. */
  notBeforeMs = 0;
  readonly #options: HoldingOptions;
  #cluster: WeighedCluster;
  #state: HoldingState = 'idle';
  #isAbandoned = false;
  #ownership: ShardOwnership | undefined;

  constructor(options: HoldingOptions) {
    this.#options = options;
    const hash = hashName(options.cluster.name);
    this.#cluster = weighed(options.cluster, hash);
    this.hashText = hashText(hash);
  }

  get cluster(): WeighedCluster {
    return this.#cluster;
  }

  /** Updates labels or weight; does not affect the ownership. */
  changed(cluster: HoldingOptions['cluster']): void {
    this.#cluster = weighed(cluster, this.#cluster.hash);
  }

  get state(): HoldingState {
    return this.#state;
  }

  /** Other peers must wait for it. */
  get isDraining(): boolean {
    return this.#state === 'draining' && !this.#isAbandoned;
  }

  acquire(token: number, validity: Validity): void {
    this.#state = 'held';
    this.#ownership = new ShardOwnership({ cluster: this.cluster.name, token, validity });
    try {
      this.#options.claim.acquired(this.#ownership);
    } catch (error) {
      this.#options.log?.error('failed to hand an acquired cluster to its claim', {
        cluster: this.cluster.name,
        error,
      });
    }
  }

  /** Stops new work. Running work may finish; with `isOver` it may not write. No-op unless the cluster is held. */
  end(why: string, isOver = false): void {
    if (this.#state === 'draining' && isOver) this.#ownership?.end(why);
    if (this.#state !== 'held') return;
    this.#state = 'draining';
    if (isOver) this.#ownership?.end(why);
    else this.#ownership?.retire(why);
    const { clock, drainTimeoutMs, onAbandoned, onRest } = this.#options;
    const timer = clock.after(drainTimeoutMs, () => {
      this.#isAbandoned = true;
      this.#ownership?.end('running reconciles did not finish in time');
      onAbandoned(this);
    });
    void this.#released().then(() => {
      timer.cancel();
      const wasAbandoned = this.#isAbandoned;
      this.#ownership?.end(why);
      this.#ownership = undefined;
      this.#state = 'idle';
      this.#isAbandoned = false;
      onRest(this, wasAbandoned);
    });
  }

  async #released(): Promise<void> {
    try {
      await this.#options.claim.released();
    } catch (thrown) {
      this.#options.log?.error('failed to release a cluster', {
        cluster: this.cluster.name,
        error: asError(thrown),
      });
    }
  }
}

const weighed = (
  { name, labels = {}, weight = 1 }: HoldingOptions['cluster'],
  hash: WeighedCluster['hash'],
): WeighedCluster => ({
  name,
  labels,
  weight: weight > 0 && Number.isFinite(weight) ? weight : 1,
  hash,
});
