/** A cluster out of what reaches it. */

import type { Client, KindNames } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import { CachedClient } from './cache/cached-client.ts';
import type { CacheOptions } from './cache/cache-options.ts';
import { ClusterCache } from './cache/cluster-cache.ts';
import type { Cache } from './cache/contract.ts';
import type { Cluster, ClusterName } from './cluster.ts';

export interface NewClusterOptions {
  readonly name: ClusterName;
  /** Asks the server. Closed by who made it, not by the cluster. */
  readonly client: Client;
  /** A cache of its own, such as a fleet's view; or what its own one should keep. */
  readonly cache?: Cache | CacheOptions | undefined;
  readonly clock?: Clock | undefined;
  readonly log?: Logger | undefined;
  /** Kinds that the client always asks the server for. */
  readonly uncached?: readonly KindNames[] | undefined;
  /** The client hands out what the cache has, uncopied: nobody may change it. */
  readonly unsafeShareObjects?: boolean | undefined;
}

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
