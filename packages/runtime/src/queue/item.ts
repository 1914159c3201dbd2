/** A request in the queue, from when it is added until it is done and its failures are forgotten. */

import type { Request } from '../controller/reconcile.ts';
import type { ClusterItems } from './cluster-items.ts';
import type { HeapElement } from './indexed-heap.ts';
import type { Linked } from './linked-list.ts';

/**
 * Place of the item, independent of being processed:
 *
 *   none     not queued
 *   ready    in a lane
 *   delayed  in the heap of delays
 *   behind   ready, but being processed: `done` puts it into a lane
 */
export type Place = 'none' | 'ready' | 'delayed' | 'behind';

export class Item implements Linked<Item>, HeapElement {
  readonly request: Request;
  readonly key: string;
  readonly cluster: ClusterItems;
  place: Place = 'none';
  /** Taken and not done. */
  isBusy = false;
  /** Priority of the next take. */
  priority = 0;
  failures = 0;
  dueMs = 0;
  /** Of items that are due at the same time, the one that was delayed first comes first. */
  delayOrder = 0;
  readySinceMs = 0;
  busySinceMs = 0;
  /** Called when it is done: see `removeCluster`. */
  onDone: (() => void)[] | undefined = undefined;
  /** Links of its lane while ready, of all busy items while busy. */
  previous: Item | undefined = undefined;
  next: Item | undefined = undefined;
  heapIndex = -1;

  constructor(request: Request, key: string, cluster: ClusterItems) {
    this.request = request;
    this.key = key;
    this.cluster = cluster;
  }
}
