/**
 * How much memory everything together may take that could be read again: what all control planes of a process keep of
 * their stores. Whatever was not used for the longest time goes first, whoever it belongs to.
 *
 * Everything held is in one ring in the order of its last use, and the sum is kept with each change: with ten thousand
 * control planes, growing and using cost the same as with one.
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

/** One thing that is held under a budget. */
export class Held extends Link {
  readonly budget: CacheBudget;
  /** Told when it must go. It is no longer held by then. */
  readonly giveUp: () => void;
  /** Cannot be collected as garbage before it is given up, or the budget itself is garbage. */
  readonly content: unknown;
  /** Changed by the budget alone. */
  bytes = 0;
  isHeld = true;

  constructor(budget: CacheBudget, giveUp: () => void, content?: unknown) {
    super();
    this.budget = budget;
    this.giveUp = giveUp;
    this.content = content;
  }

  /** It was used just now: others go before it. */
  used(): void {
    this.budget.used(this);
  }

  /** It has become larger or smaller. Others may have to go for it, or itself; both within the call. */
  resize(bytes: number): void {
    this.budget.resize(this, bytes);
  }

  /** Whoever holds it gives it back. */
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

  /** Of everything that is held. Never more than allowed, except within a change. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many things are held. */
  get count(): number {
    return this.#count;
  }

  /** Takes no bytes yet: `resize` says how many. */
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
