/** The queued requests of one cluster. It exists only while it has some: ten thousand idle clusters cost nothing. */

import type { Request } from '../controller/reconcile.ts';
import { Item } from './item.ts';
import { LinkedList } from './linked-list.ts';
import type { Linked } from './linked-list.ts';

/** The ready requests of one cluster with one priority, in FIFO order. Never empty. */
export class Lane implements Linked<Lane> {
  readonly cluster: ClusterItems;
  readonly priority: number;
  readonly items = new LinkedList<Item>();
  /** False: its cluster is held. */
  isTakingTurns = false;
  /** Links of the lanes that take turns. */
  previous: Lane | undefined = undefined;
  next: Lane | undefined = undefined;

  constructor(cluster: ClusterItems, priority: number) {
    this.cluster = cluster;
    this.priority = priority;
  }
}

export class ClusterItems {
  readonly name: string;
  readonly lanes = new Map<number, Lane>();
  isPaused: boolean;
  /** Number of requests that are being processed. */
  busy = 0;
  readonly #busyMax: number;
  readonly #items = new Map<string, Item>();

  constructor(name: string, isPaused: boolean, busyMax: number) {
    this.name = name;
    this.isPaused = isPaused;
    this.#busyMax = busyMax;
  }

  /** True if no request may be taken now. */
  get isHeld(): boolean {
    return this.isPaused || this.busy >= this.#busyMax;
  }

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  get(request: Request): Item | undefined {
    return this.#items.get(keyOfRequest(request));
  }

  getOrMake(request: Request): Item {
    const key = keyOfRequest(request);
    let item = this.#items.get(key);
    if (!item) this.#items.set(key, (item = new Item(request, key, this)));
    return item;
  }

  delete(item: Item): void {
    this.#items.delete(item.key);
  }

  [Symbol.iterator](): MapIterator<Item> {
    return this.#items.values();
  }
}

/**
 * A namespace cannot contain a NUL, and an empty one means none. A name may be any string: that of an owner comes from a reference, which
 * servers do not validate.
 */
const keyOfRequest = ({ namespace = '', name }: Request): string => `${namespace}\0${name}`;
