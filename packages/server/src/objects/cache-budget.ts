/**
 * Memory budget of all data that could be read again: the caches of all control planes of a process. The least recently used item is
 * evicted first, regardless of its owner.
 *
 * All items are in one ring in the order of their last use, and the sum is updated with each change: with ten thousand control planes,
 * growing and using cost the same as with one.
 *
 *     oldest ⇄ … ⇄ newest ⇄ (the ring's own link) ⇄ oldest
 */

import { assert } from '@hangar/core';

class Link {
  before: Link = this;
  after: Link = this;

  unlink(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }

  linkBefore(other: Link): void {
    this.before = other.before;
    this.after = other;
    other.before.after = this;
    other.before = this;
  }
}

/** An item held under a budget. */
export class Held extends Link {
  readonly budget: CacheBudget;
  /** Called on eviction, after the item was released. */
  readonly giveUp: () => void;
  /** Keeps the content alive until the item is evicted or the budget itself is garbage. */
  readonly content: unknown;
  /** Changed only by the budget. */
  bytes = 0;
  isHeld = true;

  constructor(budget: CacheBudget, giveUp: () => void, content?: unknown) {
    super();
    this.budget = budget;
    this.giveUp = giveUp;
    this.content = content;
  }

  /** Marks the item as most recently used. */
  used(): void {
    this.budget.used(this);
  }

  /** Changes the size. May evict other items, or this one, within the call. */
  resize(bytes: number): void {
    this.budget.resize(this, bytes);
  }

  /** Called by the owner to release the item. */
  release(): void {
    this.budget.release(this);
  }
}

export class CacheBudget {
  readonly bytesMax: number;
  readonly #ring = new Link();
  #bytes = 0;
  #count = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Size of all items. Never above the limit, except within a change. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of items. */
  get count(): number {
    return this.#count;
  }

  /** Adds an item of 0 bytes: `resize` sets its size. */
  hold(giveUp: () => void, content?: unknown): Held {
    const held = new Held(this, giveUp, content);
    held.linkBefore(this.#ring);
    this.#count++;
    return held;
  }

  used(held: Held): void {
    if (!held.isHeld || held.after === this.#ring) return;
    held.unlink();
    held.linkBefore(this.#ring);
  }

  resize(held: Held, bytes: number): void {
    assert(bytes >= 0, 'a memory size must not be negative');
    if (!held.isHeld) return;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
    while (this.#bytes > this.bytesMax && this.#ring.after !== this.#ring) {
      const oldest = this.#ring.after as Held;
      this.release(oldest);
      oldest.giveUp();
    }
  }

  release(held: Held): void {
    if (!held.isHeld) return;
    held.isHeld = false;
    held.unlink();
    this.#bytes -= held.bytes;
    held.bytes = 0;
    this.#count--;
  }
}

export const defaultCacheBytesMax = 256 * 1024 * 1024;
