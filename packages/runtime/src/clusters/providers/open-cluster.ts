/** From how to reach a cluster to a cluster that the engine can start. */

import { connect, fingerprintOf } from '@hangar/client';
import type { Client, ClusterConfig, KindNames } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import type { CacheOptions } from '../../cache/cache-options.ts';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import { newCluster } from '../../new-cluster.ts';
import type { DiscoveredCluster } from '../contract.ts';

/** How a provider makes its clusters. */
export interface ClusterOptions {
  /** Last changes: another user agent, a proxy, somebody to act as. What it answers counts for whether a config changed. */
  readonly configure?: (config: ClusterConfig, name: ClusterName) => ClusterConfig;
  /** Absent: a client of its own, over HTTP. */
  readonly connect?: (config: ClusterConfig, name: ClusterName) => Client;
  readonly cache?: CacheOptions;
  /** Kinds that the client always asks the server for. */
  readonly uncached?: readonly KindNames[];
  /** False: a cluster counts as open before it has answered anything. */
  readonly isProbed?: boolean;
  readonly clock?: Clock;
  readonly log?: Logger;
}

export interface ConfiguredCluster extends Pick<DiscoveredCluster, 'name' | 'labels'> {
  readonly config: ClusterConfig;
}

export function discoveredByConfig(given: ConfiguredCluster, options: ClusterOptions): DiscoveredCluster {
  const { name, labels } = given;
  const config = options.configure?.(given.config, name) ?? given.config;
  const makeClient = options.connect ?? ((of: ClusterConfig) => connect(of));
  return {
    name,
    fingerprint: fingerprintOf(config),
    ...(labels ? { labels } : {}),
    open: (signal) => openCluster(name, () => makeClient(config, name), options, signal),
  };
}

/** Rejects, with the client closed, when the cluster does not answer or does not know who asks. */
export async function openCluster(
  name: ClusterName,
  makeClient: () => Client,
  { cache, uncached, isProbed = true, clock, log }: ClusterOptions,
  signal: AbortSignal,
): Promise<Cluster> {
  const client = makeClient();
  try {
    if (isProbed) await probe(client, signal);
    return newCluster({ name, client, cache, uncached, clock, log });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/**
 * Clients connect when they are used first; without this a cluster that is not there would be engaged and then fail everywhere. What
 * `/version` says is of no interest, nor whether one may read it: somebody is there who knows who asks.
 */
async function probe(client: Client, signal: AbortSignal): Promise<void> {
  const answer = await client.raw({
    method: 'GET',
    target: '/version',
    headers: { accept: 'application/json' },
    signal,
  });
  await answer.body();
  if (answer.status === 401) throw new RuntimeError('EngageFailed', 'the cluster rejected the credentials');
  if (answer.status >= 500) throw new RuntimeError('EngageFailed', `the cluster responded with ${answer.status}`);
}
