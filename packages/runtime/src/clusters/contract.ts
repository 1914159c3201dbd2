/**
 * The interfaces between a controller and its clusters. A **provider** discovers clusters. The **engine** (`engage/`) opens each cluster
 * with a time limit, so that a hanging cluster does not delay others. The **coordinator** assigns clusters to processes. **Aware**
 * components, mainly controllers, are engaged with the clusters that this process owns.
 *
 *   provider ──discovered(name, how to reach it)──► engine ──cluster──► coordinator ──own──► aware.engage(name, cluster, signal)
 *      └───────lost(name)──────────────────────────►  └── the signal is aborted: disengage
 */

import type { Cluster, ClusterName } from '../cluster.ts';

/** A cluster as a provider discovers it, before any connection. */
export interface DiscoveredCluster {
  readonly name: ClusterName;
  /** Identifies the configuration. The same fingerprint keeps the running cluster; a new one replaces it and keeps its queued requests. */
  readonly fingerprint: string;
  /** Labels for filters and static shards. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Share of the work that the cluster causes. Absent: 1. */
  readonly weight?: number;
  /**
   * Creates the cluster without starting it. May reject or hang: the engine limits its time and retries it, except after a `Terminal`
   * error, which only a new fingerprint resolves. When the cluster is no longer needed, the engine stops it and calls `client.close()`.
   */
  open(signal: AbortSignal): Promise<Cluster>;
}

/** Receives the results of a provider. The methods do not block and do not throw. */
export interface Discovery {
  /** Reports a new or changed cluster. */
  discovered(cluster: DiscoveredCluster): void;
  /** Reports that a cluster was deleted, is not ready, or is no longer selected. Unknown names are ignored. */
  lost(name: ClusterName): void;
  /** Reports that all initial clusters were discovered. */
  synced(): void;
}

/** Discovers clusters. */
export interface Provider {
  /** Name for messages and metrics: `kubeconfig-secrets`. */
  readonly name: string;
  /** Runs until the signal is aborted. A rejection stops the manager, so the provider retries temporary failures itself. */
  run(discovery: Discovery, signal: AbortSignal): Promise<void>;
}

/** A component that works with clusters, such as a controller. */
export interface Aware {
  /**
   * Starts to work with a cluster until the signal is aborted. Returns immediately and never throws. Called again for the same name only
   * after the previous signal was aborted.
   *
   * **Replacement** (a new configuration of the same cluster): the engine aborts the old signal with a `RuntimeError` of code
   * `ClusterReplaced`. Queued requests keep their back-off and wait for the next `engage` of the name, which can come immediately or
   * after the new cluster was opened, and does not wait for `drained` of the old engagement: no request is reconciled twice at the same
   * time. If no new engagement comes, `abandon` of the old engagement drops the requests. With any other reason, the queued requests of
   * the cluster are dropped.
   */
  engage(name: ClusterName, cluster: Cluster, signal: AbortSignal, options?: EngageOptions): Engagement;
}

/** Options of `Aware.engage`. */
export interface EngageOptions {
  /** Checked before each dispatch. While it throws, the requests of the cluster wait. Absent: this process owns the cluster permanently. */
  readonly ownership?: Pick<Ownership, 'check'>;
}

/** The work of a component on one cluster. */
export interface Engagement {
  /** Resolves when no work runs. Called after the signal was aborted. */
  readonly drained: () => Promise<void>;
  /** Drops the requests that were kept for a replacement, when no replacement comes. Idempotent. */
  readonly abandon?: () => void;
}

/** The right to work on a cluster. */
export interface Ownership {
  /** Fencing token: grows with every change of the owner, across all processes. */
  readonly token: number;
  /**
   * Throws `Fenced` when the ownership ended or can no longer be proven. Called before each dispatch and each write. It may still pass
   * after the signal was aborted, so that running work can finish; no other process gets the cluster before `Claim.released`.
   */
  check(): void;
  /** Milliseconds for which the ownership is valid without a renewal. */
  remainingMs(): number;
  /** Aborted when no new work may start. */
  readonly signal: AbortSignal;
}

/** Assigns discovered clusters to processes. */
export interface Coordinator {
  /** Adds a cluster to the assignment. Returns a function that removes it. */
  follow(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>, claim: Claim): () => void;
  /** Reports changed labels or weight of a cluster. Absent: the cluster is removed and added again, which causes a handoff. */
  changed?(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>): void;
  /** Runs until the signal is aborted, then releases all clusters. */
  run(signal: AbortSignal): Promise<void>;
}

/** Receives the assignment of one cluster. */
export interface Claim {
  /** The process owns the cluster until `ownership.signal` is aborted. */
  acquired(ownership: Ownership): void;
  /** Called after the signal of the ownership was aborted. Resolves when no work runs; then another process may acquire the cluster. */
  released(): Promise<void>;
}

/** Finds clusters by name. */
export interface Clusters {
  /**
   * Returns an engaged cluster. Throws `ClusterNotFound` or `ClusterNotOwned`, which stop retries, and `EngageFailed` while the cluster
   * is not open, which is temporary. Writes of the cluster are fenced: they reject with `Fenced` when this process no longer owns the
   * cluster.
   */
  get(name: ClusterName): Cluster;
  names(): Iterable<ClusterName>;
}
