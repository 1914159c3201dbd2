/** The ownership of one cluster, as the coordinator reports it. */

import type { Claim, Coordinator, DiscoveredCluster, Ownership } from '../contract.ts';

/** The fields that coordinators use. */
type Share = Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>;

export interface RightOptions {
  readonly coordinator: Coordinator;
  readonly onAcquired: () => void;
  readonly onEnded: () => void;
  /** Resolves when no work runs on the cluster. */
  readonly drained: () => Promise<void>;
}

export class Right {
  readonly #options: RightOptions;
  #share: Share | undefined;
  #unfollow: (() => void) | undefined;
  #ownership: Ownership | undefined;
  readonly #onAbort = (): void => this.#end();

  constructor(options: RightOptions) {
    this.#options = options;
  }

  /** Undefined when this process does not own the cluster. */
  get ownership(): Ownership | undefined {
    return this.#ownership;
  }

  /** True when this process owns the cluster and can prove it. */
  get isProven(): boolean {
    try {
      this.#ownership?.check();
      return this.#ownership !== undefined;
    } catch {
      return false;
    }
  }

  /** Requests the ownership, or reports changed labels or weight to the coordinator. Idempotent. */
  follow(cluster: Share): void {
    const before = this.#share;
    this.#share = cluster;
    if (before && sameShare(before, cluster)) return;
    const { coordinator, drained } = this.#options;
    if (before && coordinator.changed) return coordinator.changed(cluster);
    if (before) {
      this.#unfollow?.();
      this.#end();
    }
    const claim: Claim = { acquired: (ownership) => this.#acquired(ownership), released: drained };
    this.#unfollow = coordinator.follow(cluster, claim);
  }

  /** Releases the ownership without calling `onEnded`. */
  leave(): void {
    this.#ownership?.signal.removeEventListener('abort', this.#onAbort);
    this.#ownership = undefined;
    this.#share = undefined;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  #acquired(ownership: Ownership): void {
    if (ownership.signal.aborted) return;
    this.#ownership?.signal.removeEventListener('abort', this.#onAbort);
    this.#ownership = ownership;
    ownership.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#options.onAcquired();
  }

  #end(): void {
    if (!this.#ownership) return;
    this.#ownership.signal.removeEventListener('abort', this.#onAbort);
    this.#ownership = undefined;
    this.#options.onEnded();
  }
}

function sameShare(one: Share, other: Share): boolean {
  return one.weight === other.weight && sameLabels(one.labels ?? {}, other.labels ?? {});
}

function sameLabels(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
