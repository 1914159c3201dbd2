/**
 * How a controller gets its clusters. A **provider** discovers them; the **engine** (`engage/`) makes and starts each, bounded in time,
 * so that a hung one delays none; the **coordinator** says which are this process's own; whatever is **aware** (controllers, above all)
 * is told of those.
 *
 *   provider ──discovered(name, how to reach it)──► engine ──cluster──► coordinator ──own──► aware.engage(name, cluster, signal)
 *      └───────lost(name)──────────────────────────►  └── the signal fires: disengage
 */

import type { Cluster, ClusterName } from '../cluster.ts';

/** A cluster as a provider knows it, before anybody has talked to it. */
export interface DiscoveredCluster {
  readonly name: ClusterName;
  /**
   * Equal: nothing changed, keep what runs. Another one: the cluster is replaced, queued work stays.
   */
  readonly fingerprint: string;
  /** For filters and static shards. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Of its share of work; absent: 1. */
  readonly weight?: number;
  /**
   * Makes what reaches it; not started. May reject, may hang: the engine bounds and retries it, unless it rejects with `Terminal`: then
   * only another fingerprint helps. When the cluster is over, the engine ends what `start` runs and then calls `client.close()`.
   */
  open(signal: AbortSignal): Promise<Cluster>;
}

/** What a provider tells. Neither call blocks or throws. */
export interface Discovery {
  /** Also again, with what changed. */
  discovered(cluster: DiscoveredCluster): void;
  /** It is gone, not ready, or no longer selected. Unknown names are fine. */
  lost(name: ClusterName): void;
  /** Everything that existed at first was told. */
  synced(): void;
}

export interface Provider {
  /** For messages and metrics: `kubeconfig-secrets`. */
  readonly name: string;
  /** Until the signal. A rejection ends the manager; what may pass by itself must be retried inside. */
  run(discovery: Discovery, signal: AbortSignal): Promise<void>;
}

export interface Aware {
  /**
   * Begins to work with the cluster until the signal fires. Returns at once and never throws; called again for the same name only
   * after the signal of before has fired. `drained` of what it returns resolves when nothing is under way there any more.
   *
   * **Replacement** (another config for the same cluster): the engine aborts the old signal with a `RuntimeError` of the code
   * `ClusterReplaced` as its reason. Requests that were queued then wait, undispatched and with their back-off, for the next
   * `engage` of the name, which may come at once or after the new one has been opened, and need not await `drained` of the old:
   * no request is ever reconciled twice at a time. Should it not come after all, `abandon` of the old engagement drops them.
   * Every other reason: what is queued of the cluster is dropped.
   */
  engage(name: ClusterName, cluster: Cluster, signal: AbortSignal, options?: EngageOptions): Engagement;
}

export interface EngageOptions {
  /**
   * Checked at every dispatch: where it throws, the cluster's requests wait, undispatched, until the right is proven again or the
   * signal fires. Absent: the cluster is this process's own, for ever.
   */
  readonly ownership?: Pick<Ownership, 'check'>;
}

export interface Engagement {
  /** After the signal fired: resolves when no work is under way. */
  readonly drained: () => Promise<void>;
  /** After a signal that said `ClusterReplaced`, when no other comes after all: drops what was kept for it. Idempotent. */
  readonly abandon?: () => void;
}

/** The right to work on a cluster, as long as it lasts. */
export interface Ownership {
  /** Grows with every change of hands, over all processes. */
  readonly token: number;
  /**
   * Throws `Fenced` when the right has ended or can no longer be proven. Called at every dispatch and before every write. After the signal
   * it may go on to pass, so that what was begun before can finish; nobody else has the cluster before `Claim.released`.
   */
  check(): void;
  /** Milliseconds for which it can be proven without news. */
  remainingMs(): number;
  /** Fires when nothing new may begin, for whatever reason. */
  readonly signal: AbortSignal;
}

/** Which of the clusters that are known are this process's own. */
export interface Coordinator {
  /** Called for every cluster that is known, as soon as it is. Returns the way to take it back. */
  follow(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>, claim: Claim): () => void;
  /** Labels or weight of one that is followed are others now. Absent: it is taken back and followed anew, which is a hand-over. */
  changed?(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>): void;
  /** Until the signal; releases in good order then. */
  run(signal: AbortSignal): Promise<void>;
}

/** How the coordinator says that a cluster is this process's, and takes it back. */
export interface Claim {
  /** Yours from now on; until `ownership.signal` fires. */
  acquired(ownership: Ownership): void;
  /** Asked after the signal of the ownership has fired: resolves when nothing is under way any more. Then another may have it. */
  released(): Promise<void>;
}

/** Where clusters are asked for by name. */
export interface Clusters {
  /**
   * Throws `ClusterNotFound` or `ClusterNotOwned`, which end retries; `EngageFailed` while a cluster that is known and owned is not open,
   * which may pass. What it gives is fenced: writes are rejected with `Fenced` as soon as the cluster is no longer this process's.
   */
  get(name: ClusterName): Cluster;
  names(): Iterable<ClusterName>;
}
