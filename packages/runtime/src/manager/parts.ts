/** Creates the parts of a manager from its options. */

import type { Clock, Logger, Random } from '@hangar/core';
import { localCluster } from '../cluster.ts';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { Clusters } from '../clusters/contract.ts';
import { ClusterEngine } from '../clusters/engage/engine.ts';
import { RuntimeError } from '../errors.ts';
import { LeaderElector } from '../leader-election/leader-elector.ts';
import type { LeaderElectionOptions } from '../leader-election/leader-elector.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { newCluster } from '../new-cluster.ts';
import { leaderOwns } from './leader-gate.ts';
import type { LeaderGate } from './leader-gate.ts';
import type { ClusterSetup, ManagerOptions, ManagerWorld } from './manager-options.ts';

/** Dependencies that all parts share. */
export interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Throws `InvalidOptions`. */
export function newLocalCluster({ cluster, client, cache }: ManagerOptions, { clock, log }: Parts): Cluster {
  if (cluster) return cluster;
  if (client) return newCluster({ name: localCluster, client, cache, clock, log });
  throw new RuntimeError('InvalidOptions', 'a manager requires a client or a cluster');
}

export function newElector(
  options: LeaderElectionOptions,
  { apiReader, client }: Cluster,
  parts: Parts,
): LeaderElector {
  // A lease in a cache may be outdated.
  const uncached = {
    get: apiReader.get.bind(apiReader),
    create: client.create.bind(client),
    update: client.update.bind(client),
  };
  return new LeaderElector({ ...options, ...parts, client: uncached });
}

/** Returns the given part, or creates it with the function. */
export const given = <T extends object>(one: T | ((world: ManagerWorld) => T) | undefined, world: ManagerWorld) =>
  typeof one === 'function' ? one(world) : one;

/** Without a coordinator, the leader owns all clusters. */
export function newEngine(setup: ClusterSetup, gate: LeaderGate | undefined, parts: Parts): ClusterEngine {
  return new ClusterEngine({ ...(gate ? { coordinator: leaderOwns(gate) } : {}), ...setup, ...parts });
}

/** The local cluster under '', and those of the fleet. */
export const allClusters = (local: Cluster, engine: ClusterEngine | undefined): Clusters => ({
  get(name: ClusterName) {
    if (name === localCluster) return local;
    if (engine) return engine.get(name);
    throw new RuntimeError('ClusterNotFound', `cluster "${name}" not found`);
  },
  *names() {
    yield localCluster;
    if (engine) yield* engine.names();
  },
});
