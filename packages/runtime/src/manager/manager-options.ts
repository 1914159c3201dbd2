/** What a manager is made of. */

import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { CacheOptions } from '../cache/cache-options.ts';
import type { Cluster } from '../cluster.ts';
import type { ClusterEngineOptions } from '../clusters/engage/engine.ts';
import type { LeaderElectionOptions } from '../leader-election/leader-elector.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { WebhookServer } from '../webhooks/webhook-server.ts';

/** Equal addresses are one server. */
export interface ListenOptions {
  /** Absent: 8080. 0: any that is free. */
  readonly port?: number;
  /** Absent: 127.0.0.1. In a pod, for the kubelet's probes and for Prometheus: `0.0.0.0`, or `::`. */
  readonly host?: string;
}

/** Where clusters come from, and which of them are this process's. */
export type ClusterSetup = Pick<ClusterEngineOptions, 'provider' | 'coordinator'> &
  Omit<ClusterEngineOptions, 'clock' | 'random' | 'log' | 'metrics'>;

/** What the manager's own parts have. Providers, coordinators and webhook servers take it as it is: `{ ...world, port: 9443 }`. */
export interface ManagerWorld {
  readonly local: Cluster;
  /** Of the local cluster; asks the server, as providers (`management`) and coordinators need it. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface ManagerOptions {
  /** Of the local cluster, where leases are. Closed by who made it, unless `closesClient` says otherwise. */
  readonly client?: Client;
  readonly closesClient?: boolean;
  /** Of the local cluster: what is kept of it. With a client. */
  readonly cache?: CacheOptions;
  /** In place of a client. */
  readonly cluster?: Cluster;
  /** A fleet. As a function when it is found, or shared with others, by what the manager has. */
  readonly clusters?: ClusterSetup | ((world: ManagerWorld) => ClusterSetup);
  /** Absent: this process works without asking anybody. */
  readonly leaderElection?: LeaderElectionOptions;
  /** As a function: with the manager's own log, metrics and client. */
  readonly webhooks?: WebhookServer | ((world: ManagerWorld) => WebhookServer);
  /** `/metrics`; false: nowhere. */
  readonly metrics?: ListenOptions | false;
  /** `/healthz`, `/livez` and `/readyz`; false: nowhere. Absent: where the metrics are. */
  readonly health?: ListenOptions | false;
  /** Absent: one of its own. */
  readonly registry?: MetricsRegistry;
  /** Who waits to lead fills its caches meanwhile, so that it can begin at once. Absent: yes. */
  readonly warmUp?: boolean;
  /** Of everything together; then `run` rejects with `ShutdownTimedOut`. Absent: 30 s. */
  readonly gracefulShutdownTimeoutMs?: number;
  /** After this time what needs filled caches begins without. Absent: 2 min. */
  readonly cacheSyncTimeoutMs?: number;
  /** Absent: information and worse, to standard error. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface ManagerAddOptions {
  /**
   * Runs only while this process leads. Absent: yes; controllers of a fleet that several processes share (`clusters.coordinator`) run
   * in each of them, unless they say yes.
   */
  readonly needsLeadership?: boolean;
}

export interface ManagerRunOptions {
  /** A second wish to end: what has not ended is left behind. */
  readonly forceSignal?: AbortSignal;
}
