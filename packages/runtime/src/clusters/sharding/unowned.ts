/**
 * Detects discovered clusters without a confirmed owner: no shard selects them, the owner has not discovered them, or it waits for a peer
 * that does not drain. Every peer checks all clusters, so that one live peer is enough.
 */

import type { ClusterName } from '../../cluster.ts';
import type { GroupView } from './group-view.ts';
import { isInFilter } from './held-filter.ts';
import type { Holding } from './holding.ts';
import type { Protocol } from './protocol.ts';

export interface UnownedOptions {
  readonly view: GroupView;
  readonly protocol: Protocol;
  readonly afterMs: number;
  /** Called with all unowned clusters on every change. Must not throw. */
  readonly onChange: (names: readonly ClusterName[]) => void;
}

export class UnownedClusters {
  readonly #options: UnownedOptions;
  readonly #sinceMs = new Map<ClusterName, number>();
  #names: readonly ClusterName[] = [];

  constructor(options: UnownedOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#names.length;
  }

  /** Called at every renewal interval. */
  look(holdings: Iterable<Holding>, nowMs: number): void {
    const missing = new Set<ClusterName>();
    for (const holding of holdings) {
      const { name } = holding.cluster;
      if (this.#isConfirmed(holding)) continue;
      missing.add(name);
      if (!this.#sinceMs.has(name)) this.#sinceMs.set(name, nowMs);
    }
    for (const name of this.#sinceMs.keys()) if (!missing.has(name)) this.#sinceMs.delete(name);
    const names: ClusterName[] = [];
    for (const [name, sinceMs] of this.#sinceMs) if (nowMs - sinceMs >= this.#options.afterMs) names.push(name);
    names.sort();
    if (names.length === this.#names.length && names.every((name, i) => name === this.#names[i])) return;
    this.#names = names;
    this.#options.onChange(names);
  }

  #isConfirmed({ state, cluster }: Holding): boolean {
    if (state === 'held') return true;
    const { view, protocol } = this.#options;
    const owner = protocol.ownerOf(cluster, view.ring?.members ?? []);
    const record = owner && view.peers.get(owner.name)?.record;
    return record?.id === owner?.id && isInFilter(record?.held, cluster.hash);
  }
}
