/**
 * A cluster as a controller has it: a client whose reads come from a cache, and the cache. The local one, where the manager's
 * own leases and events are, is called ''.
 */

import type { Client, Reader } from '@hangar/client';
import type { Cache } from './cache/contract.ts';

declare const brand: unique symbol;
/** Never mixed up with names of objects. */
export type ClusterName = string & { readonly [brand]?: 'ClusterName' };

export const localCluster: ClusterName = '';

export interface Cluster {
  readonly name: ClusterName;
  /** Reads from the cache (what a write has done comes there a moment later), writes at once. */
  readonly client: Client;
  /** Asks the server, always. */
  readonly apiReader: Reader;
  readonly cache: Cache;
  /** Runs caches until the signal; resolves when everything has ended. Once. */
  start(signal: AbortSignal): Promise<void>;
}
