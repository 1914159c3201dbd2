/** Opens clusters from their configurations. */

import { connect, fingerprintOf } from '@hangar/client';
import type { Client, ClusterConfig, KindNames } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import type { CacheOptions } from '../../cache/cache-options.ts';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import { newCluster } from '../../new-cluster.ts';
import type { DiscoveredCluster } from '../contract.ts';

/** Options for the clusters that a provider creates. */
export interface ClusterOptions {
  /** Changes the configuration of a cluster, for example its user agent, proxy or impersonation. The result determines the fingerprint. */
  readonly configure?: (config: ClusterConfig, name: ClusterName) => ClusterConfig;
  /** Creates the client of a cluster. Absent: a client over HTTP. */
  readonly connect?: (config: ClusterConfig, name: ClusterName) => Client;
  readonly cache?: CacheOptions;
  /** Kinds that the client always reads from the server. */
  readonly uncached?: readonly KindNames[];
  /** False: a cluster counts as open before its first response. Absent: true. */
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

/** Rejects, with the client closed, when the cluster does not answer or does not authenticate the client. */
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
 * Clients connect on first use; without a probe an unreachable cluster would be engaged and then fail everywhere. The content of `/version`
 * does not matter, and neither does a Forbidden: a server answered and authenticated the client.
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
