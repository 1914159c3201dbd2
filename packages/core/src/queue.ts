/**
 * A bounded queue between producers and one consumer. A full queue makes producers wait (`push`) or refuses the item (`offer`): nothing in
 * Hangar buffers without a bound.
 */

import { assert } from './assert.ts';
import { CodedError } from './errors.ts';

interface Waiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

export class BoundedQueue<T> {
  readonly lengthMax: number;
  readonly #items: T[] = [];
  readonly #takers: Waiter<T | undefined>[] = [];
  readonly #pushers: (Waiter<void> & { item: T })[] = [];
  #closed: { error?: Error } | undefined;

  constructor(lengthMax: number) {
    assert(lengthMax > 0, 'the capacity of a queue must be at least 1');
    this.lengthMax = lengthMax;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Adds the item and returns true, or returns false at once if the queue is full or closed. */
  offer(item: T): boolean {
    if (this.#closed) return false;
    const taker = this.#takers.shift();
    if (taker) {
      taker.resolve(item);
      return true;
    }
    if (this.#items.length >= this.lengthMax) return false;
    this.#items.push(item);
    return true;
  }

  /** Adds the item, waiting for room; rejects with `QueueClosed` when the queue closes first. Waiters keep order. */
  push(item: T): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closedError());
    if (this.#pushers.length === 0 && this.offer(item)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#pushers.push({ item, resolve, reject }));
  }

  /** Returns the next item; undefined after `close()`, a rejection after `close(error)`, both only once drained. */
  take(): Promise<T | undefined> {
    if (this.#items.length > 0) {
      const item = this.#items.shift() as T;
      const pusher = this.#pushers.shift();
      if (pusher) {
        this.#items.push(pusher.item);
        pusher.resolve();
      }
      return Promise.resolve(item);
    }
    if (this.#closed) return this.#closed.error ? Promise.reject(this.#closed.error) : Promise.resolve(undefined);
    return new Promise((resolve, reject) => this.#takers.push({ resolve, reject }));
  }

  /** Accepts no more items. Queued items can still be taken; waiting producers are refused. Idempotent. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = error ? { error } : {};
    for (const pusher of this.#pushers.splice(0)) pusher.reject(this.#closedError());
    for (const taker of this.#takers.splice(0)) {
      if (error) taker.reject(error);
      else taker.resolve(undefined);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (let item = await this.take(); item !== undefined; item = await this.take()) yield item;
  }

  #closedError(): CodedError<'QueueClosed'> {
    return new CodedError('QueueClosed', 'the queue is closed', { cause: this.#closed?.error });
  }
}
