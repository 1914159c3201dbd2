/**
 * The order of ready requests: the highest priority first; within it, clusters take turns with one request each.
 *
 *   priority 0     [ b: b7 ] → [ a: a1 a2 a3 … ]      next: b7, a1, a2, a3
 *   priority -100  [ a: a9 ] → [ c: c1 c2 ]           then: a9, c1, c2
 *
 * A new lane goes to the end of its band: a cluster with one request waits for at most one request of each other cluster. Lanes of a held
 * cluster (paused, or at its limit) are in no band and cost nothing.
 */

import { Lane } from './cluster-items.ts';
import type { ClusterItems } from './cluster-items.ts';
import { IndexedHeap } from './indexed-heap.ts';
import type { HeapElement } from './indexed-heap.ts';
import type { Item } from './item.ts';
import { LinkedList } from './linked-list.ts';

/** The lanes of one priority that take turns. Never empty. */
interface Band extends HeapElement {
  readonly priority: number;
  readonly lanes: LinkedList<Lane>;
}

export class Turns {
  readonly #bands = new Map<number, Band>();
  readonly #order = new IndexedHeap<Band>((a, b) => a.priority > b.priority);

  /** True if no request can be taken now. */
  get isEmpty(): boolean {
    return this.#order.length === 0;
  }

  push(item: Item): void {
    const { cluster, priority } = item;
    let lane = cluster.lanes.get(priority);
    if (!lane) cluster.lanes.set(priority, (lane = new Lane(cluster, priority)));
    lane.items.push(item);
    if (!lane.isTakingTurns && !cluster.isHeld) this.#join(lane);
  }

  remove(item: Item): void {
    const lane = item.cluster.lanes.get(item.priority)!;
    lane.items.remove(item);
    if (lane.items.length > 0) return;
    item.cluster.lanes.delete(lane.priority);
    if (lane.isTakingTurns) this.#leave(lane);
  }

  /** Removes and returns the next item; the next turn goes to another cluster. */
  next(): Item | undefined {
    const band = this.#order.first;
    if (!band) return undefined;
    const lane = band.lanes.head!;
    const item = lane.items.head!;
    lane.items.remove(item);
    if (lane.items.length === 0) {
      lane.cluster.lanes.delete(lane.priority);
      this.#leave(lane);
    } else if (band.lanes.length > 1) {
      band.lanes.remove(lane);
      band.lanes.push(lane);
    }
    return item;
  }

  /** Called after `isHeld` of a cluster may have changed. */
  heldOrNot(cluster: ClusterItems): void {
    const { isHeld } = cluster;
    for (const lane of cluster.lanes.values()) {
      if (lane.isTakingTurns !== isHeld) continue;
      if (isHeld) this.#leave(lane);
      else this.#join(lane);
    }
  }

  #join(lane: Lane): void {
    let band = this.#bands.get(lane.priority);
    if (!band) {
      band = { priority: lane.priority, lanes: new LinkedList(), heapIndex: -1 };
      this.#bands.set(lane.priority, band);
      this.#order.push(band);
    }
    band.lanes.push(lane);
    lane.isTakingTurns = true;
  }

  #leave(lane: Lane): void {
    const band = this.#bands.get(lane.priority)!;
    band.lanes.remove(lane);
    lane.isTakingTurns = false;
    if (band.lanes.length > 0) return;
    this.#bands.delete(band.priority);
    this.#order.remove(band);
  }
}
