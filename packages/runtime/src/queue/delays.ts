/** Delayed items, ordered by due time, on one timer. */

import type { Clock, Timer } from '@hangar/core';
import { IndexedHeap } from './indexed-heap.ts';
import type { Item } from './item.ts';

export class Delays {
  readonly #clock: Clock;
  readonly #onDue: (item: Item) => void;
  readonly #afterDue: () => void;
  readonly #heap = new IndexedHeap<Item>(
    (a, b) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.delayOrder < b.delayOrder),
  );
  #order = 0;
  #timer: Timer | undefined;
  #timerDueMs = Infinity;

  /** Calls `onDue` with each due item, then `afterDue` once. */
  constructor(clock: Clock, onDue: (item: Item) => void, afterDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#afterDue = afterDue;
  }

  get length(): number {
    return this.#heap.length;
  }

  push(item: Item, dueMs: number, nowMs: number): void {
    item.dueMs = dueMs;
    item.delayOrder = this.#order++;
    this.#heap.push(item);
    this.#arm(nowMs);
  }

  earlier(item: Item, dueMs: number, nowMs: number): void {
    item.dueMs = dueMs;
    this.#heap.moved(item);
    this.#arm(nowMs);
  }

  /** The timer stays: it fires without effect, or is set to a later item. It is cancelled when no item is left. */
  remove(item: Item): void {
    this.#heap.remove(item);
    if (this.#heap.length === 0) this.#disarm();
  }

  clear(onDropped: (item: Item) => void): void {
    for (let item = this.#heap.first; item; item = this.#heap.first) {
      this.#heap.remove(item);
      onDropped(item);
    }
    this.#disarm();
  }

  #arm(nowMs: number): void {
    const { dueMs } = this.#heap.first!;
    if (dueMs >= this.#timerDueMs) return;
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    this.#timer = this.#clock.after(Math.max(0, dueMs - nowMs), () => this.#fire());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDueMs = Infinity;
  }

  #fire(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#disarm();
    for (let item = this.#heap.first; item && item.dueMs <= nowMs; item = this.#heap.first) {
      this.#heap.remove(item);
      this.#onDue(item);
    }
    if (this.#heap.length > 0) this.#arm(nowMs);
    this.#afterDue();
  }
}
