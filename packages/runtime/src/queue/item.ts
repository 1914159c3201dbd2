/** A request as the queue keeps it: from when it is added until it is done and its failures are forgotten. */

import type { Request } from '../controller/reconcile.ts';
import type { ClusterItems } from './cluster-items.ts';
import type { HeapElement } from './indexed-heap.ts';
import type { Linked } from './linked-list.ts';

/**
 * Where it is, apart from being under way:
 *
 *   none     not queued
 *   ready    in a lane
 *   delayed  in the heap of delays
 *   behind   ready, were it not under way: `done` puts it into a lane
 */
export type Place = 'none' | 'ready' | 'delayed' | 'behind';

export class Item implements Linked<Item>, HeapElement {
  readonly request: Request;
  readonly key: string;
  readonly cluster: ClusterItems;
  place: Place = 'none';
  /** Taken and not done. */
  isBusy = false;
  /** Of the next take. */
  priority = 0;
  failures = 0;
  dueMs = 0;
  /** Of what is due at the same time, what was delayed first comes first. */
  delayOrder = 0;
  readySinceMs = 0;
  busySinceMs = 0;
  /** Told when it is done: see `removeCluster`. */
  onDone: (() => void)[] | undefined = undefined;
  /** Of its lane while ready, of all that are busy while busy. */
  previous: Item | undefined = undefined;
  next: Item | undefined = undefined;
  heapIndex = -1;

  constructor(request: Request, key: string, cluster: ClusterItems) {
    this.request = request;
    this.key = key;
    this.cluster = cluster;
  }
}
