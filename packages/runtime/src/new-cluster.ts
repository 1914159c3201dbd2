/** Creates a cluster from a client. */

import type { Client, KindNames } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import { CachedClient } from './cache/cached-client.ts';
import type { CacheOptions } from './cache/cache-options.ts';
import { ClusterCache } from './cache/cluster-cache.ts';
import type { Cache } from './cache/contract.ts';
import type { Cluster, ClusterName } from './cluster.ts';

/** Options of `newCluster`. */
export interface NewClusterOptions {
  readonly name: ClusterName;
  /** Client of the server. The caller closes it. */
  readonly client: Client;
  /** A cache, such as the view of a fleet, or the options of a new cache. */
  readonly cache?: Cache | CacheOptions | undefined;
  readonly clock?: Clock | undefined;
  readonly log?: Logger | undefined;
  /** Kinds that the client always reads from the server. */
  readonly uncached?: readonly KindNames[] | undefined;
  /** Returns objects of the cache without copying them. The caller must not change them. */
  readonly unsafeShareObjects?: boolean | undefined;
}

/** Returns a cluster with a cached client. */
export function newCluster(options: NewClusterOptions): Cluster {
  const { name, client: apiReader, uncached, unsafeShareObjects } = options;
  const cache = cacheOf(options);
  return {
    name,
    client: new CachedClient({ client: apiReader, cache, uncached, unsafeShareObjects }),
    apiReader,
    cache,
    start: (signal) => cache.start(signal),
  };
}

function cacheOf({ client, cache = {}, clock, log }: NewClusterOptions): Cache {
  if (isCache(cache)) return cache;
  return new ClusterCache({ client, log, options: cache, clock });
}

const isCache = (cache: Cache | CacheOptions): cache is Cache => 'informer' in cache;
