/**
 * A cluster as a controller uses it: a client that reads from a cache, and the cache. The local cluster has the name ''; it contains the
 * leases and Events of the manager.
 */

import type { Client, Reader } from '@hangar/client';
import type { Cache } from './cache/contract.ts';

declare const brand: unique symbol;
/** Name of a cluster. Branded, so that it is not mixed up with names of objects. */
export type ClusterName = string & { readonly [brand]?: 'ClusterName' };

/** Name of the local cluster. */
export const localCluster: ClusterName = '';

/** A cluster as a controller uses it. */
export interface Cluster {
  readonly name: ClusterName;
  /** Reads from the cache, which shows a write with a short delay. Writes to the server. */
  readonly client: Client;
  /** Reads from the server. */
  readonly apiReader: Reader;
  /** The cache that `client` reads from. */
  readonly cache: Cache;
  /** Runs the caches until the signal is aborted, and resolves when they have stopped. Can be called once. */
  start(signal: AbortSignal): Promise<void>;
}
