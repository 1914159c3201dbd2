/**
 * What the queue has of one cluster. It exists only while there is something: ten thousand idle clusters cost nothing.
 */

import type { Request } from '../controller/reconcile.ts';
import { Item } from './item.ts';
import { LinkedList } from './linked-list.ts';
import type { Linked } from './linked-list.ts';

/** What is ready of one cluster with one priority, first come first served. Never empty. */
export class Lane implements Linked<Lane> {
  readonly cluster: ClusterItems;
  readonly priority: number;
  readonly items = new LinkedList<Item>();
  /** False: its cluster is held. */
  isTakingTurns = false;
  /** Of those that take turns. */
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
  /** Under way. */
  busy = 0;
  readonly #busyMax: number;
  readonly #items = new Map<string, Item>();

  constructor(name: string, isPaused: boolean, busyMax: number) {
    this.name = name;
    this.isPaused = isPaused;
    this.#busyMax = busyMax;
  }

  /** Nothing may be taken now. */
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
 * No namespace contains a NUL, and an empty one is none. A name may be anything: that of an owner is what somebody wrote into a
 * reference, which no server checks.
 */
const keyOfRequest = ({ namespace = '', name }: Request): string => `${namespace}\0${name}`;
