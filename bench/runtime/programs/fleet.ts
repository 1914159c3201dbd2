/**
 * An operator of a fleet: one controller, three kinds, every cluster of a Hangar. By the wildcard all clusters come on one stream for each
 * kind; otherwise each has its own connection and cache, as with any other server.
 */

import { flushCompileCache } from 'node:module';
import { connect } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { ConfigMap, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { mapToSelf, newCluster, newManager, withoutManagedFields } from '@hangar/runtime';
import { fixed, hangarWildcard, knownCluster } from '@hangar/runtime/clusters';
import type { Provider } from '@hangar/runtime/clusters';
import { profiled } from '../profile.ts';
import type { Shares } from '../profile.ts';
import { aliveMs, answer, configOf, log, say, told } from './talk.ts';

export interface FleetOptions {
  readonly kubeconfig: string;
  readonly by: 'wildcard' | 'a connection each';
  /** Names of the clusters, for separate connections. */
  readonly clusters: readonly string[];
  readonly objects: number;
  /** Without managedFields: half of a small object. */
  readonly isBare?: boolean;
  readonly isProfiled?: boolean;
}

export interface Times {
  readonly sinceProcessMs: number;
  readonly sinceManagerMs: number;
}

export interface Heap {
  readonly heapBytes: number;
  readonly externalBytes: number;
}

const { kubeconfig, by, clusters, objects, isBare, isProfiled } = told<FleetOptions>();
say('loaded', aliveMs());
// For the next process: this one is killed.
flushCompileCache();

const config = await configOf(kubeconfig);
const management = connect(config);
const cache = isBare ? { defaults: { transform: withoutManagedFields } } : {};

const configOfCluster = (name: string): ClusterConfig => ({
  ...config,
  server: `${config.server}/clusters/${name}/control-plane`,
});

const eachAlone = (): Provider =>
  fixed(
    clusters.map((name) =>
      knownCluster(name, () => newCluster({ name, client: connect(configOfCluster(name)), cache, log })),
    ),
  );

const manager = await newManager({
  config,
  clusters: { provider: by === 'wildcard' ? hangarWildcard({ management, cache, log }) : eachAlone() },
  metrics: false,
  health: false,
  log,
});
const reconciled = new Set<string>();
const all = Promise.withResolvers<void>();
manager.controller({
  name: 'bench',
  for: ConfigMap,
  watches: [
    { kind: Secret, map: mapToSelf },
    { kind: ServiceAccount, map: mapToSelf },
  ],
  concurrency: 16,
  async reconcile({ cluster, namespace, name }, { client }) {
    if (!name.startsWith('object-')) return;
    await client.get(ConfigMap, { namespace, name });
    reconciled.add(`${cluster}/${name}`);
    if (reconciled.size === clusters.length * objects) all.resolve();
  },
});

const begunMs = aliveMs();
const times = (): Times => ({ sinceProcessMs: aliveMs(), sinceManagerMs: aliveMs() - begunMs });
/** A cluster counts as engaged only when all its objects are cached. */
const engagedAll = async (): Promise<void> => {
  let names: string[];
  do {
    await new Promise((resolve) => setTimeout(resolve, 5));
    names = [...manager.clusters.names()];
  } while (names.length < clusters.length);
  say('opened', times());
  await Promise.all(names.map((name) => manager.clusters.get(name).cache.synced()));
  say('engaged', times());
};

answer({
  collect(): Heap {
    for (let n = 0; n < 3; n++) globalThis.gc!();
    const { heapUsed, external } = process.memoryUsage();
    return { heapBytes: heapUsed, externalBytes: external };
  },
});

const run = async (): Promise<void> => {
  manager.run(new AbortController().signal).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  await engagedAll();
  await all.promise;
  say('reconciled', times());
};
if (isProfiled) {
  const shares: Shares = await profiled(run);
  say('profile', shares);
} else await run();
