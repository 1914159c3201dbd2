/** Options of a manager. */

import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { CacheOptions } from '../cache/cache-options.ts';
import type { Cluster } from '../cluster.ts';
import type { ClusterEngineOptions } from '../clusters/engage/engine.ts';
import type { LeaderElectionOptions } from '../leader-election/leader-elector.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { WebhookServer } from '../webhooks/webhook-server.ts';

/** Address of an HTTP server. Equal addresses share one server. */
export interface ListenOptions {
  /** Absent: 8080. 0: any free port. */
  readonly port?: number;
  /** Absent: 127.0.0.1. In a pod, use `0.0.0.0` or `::` for the probes of the kubelet and for Prometheus. */
  readonly host?: string;
}

/** The provider of clusters, and the coordinator that assigns them to processes. */
export type ClusterSetup = Pick<ClusterEngineOptions, 'provider' | 'coordinator'> &
  Omit<ClusterEngineOptions, 'clock' | 'random' | 'log' | 'metrics'>;

/** The shared parts of a manager. Providers, coordinators and webhook servers accept it as options: `{ ...world, port: 9443 }`. */
export interface ManagerWorld {
  readonly local: Cluster;
  /** Client of the local cluster that reads from the server, as providers (`management`) and coordinators require. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Options of a manager. Either `client` or `cluster` is required. */
export interface ManagerOptions {
  /** Client of the local cluster, which contains the leases. The caller closes it, unless `closesClient` is true. */
  readonly client?: Client;
  /** Closes the client when the manager stops. */
  readonly closesClient?: boolean;
  /** Cache options of the local cluster. Requires `client`. */
  readonly cache?: CacheOptions;
  /** The local cluster, instead of a client. */
  readonly cluster?: Cluster;
  /** The clusters of a fleet. A function receives the shared parts of the manager. */
  readonly clusters?: ClusterSetup | ((world: ManagerWorld) => ClusterSetup);
  /** Absent: no leader election; this process always works. */
  readonly leaderElection?: LeaderElectionOptions;
  /** The webhook server. A function receives the shared parts of the manager. */
  readonly webhooks?: WebhookServer | ((world: ManagerWorld) => WebhookServer);
  /** Address of `/metrics`. `false` disables it. */
  readonly metrics?: ListenOptions | false;
  /** Address of `/healthz`, `/livez` and `/readyz`. `false` disables them. Absent: the address of the metrics. */
  readonly health?: ListenOptions | false;
  /** Absent: a new registry. */
  readonly registry?: MetricsRegistry;
  /** Syncs caches while waiting for leadership, so that a new leader starts immediately. Absent: true. */
  readonly warmUp?: boolean;
  /** Maximum duration of the shutdown; then `run` rejects with `ShutdownTimedOut`. Absent: 30 s. */
  readonly gracefulShutdownTimeoutMs?: number;
  /** Time after which the manager continues to start even if some caches are not synced. Absent: 2 min. */
  readonly cacheSyncTimeoutMs?: number;
  /** Absent: logs level info and above to standard error. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Options of `Manager.add`. */
export interface ManagerAddOptions {
  /**
   * Runs only while this process is the leader. Absent: true, except for controllers of a fleet that several processes share
   * (`clusters.coordinator`), which run in each process.
   */
  readonly needsLeadership?: boolean;
}

/** Options of `Manager.run`. */
export interface ManagerRunOptions {
  /** Aborts the graceful shutdown: work that still runs is abandoned. */
  readonly forceSignal?: AbortSignal;
}
