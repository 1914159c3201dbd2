/**
 * A list with the links in its elements: appending and removing from the middle allocate nothing and take constant time. An element is in
 * at most one list at a time; the caller of a removal ensures that it is in this one.
 */

import { assert } from '@hangar/core';

export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

export class LinkedList<T extends Linked<T>> {
  #head: T | undefined;
  #tail: T | undefined;
  #length = 0;

  get head(): T | undefined {
    return this.#head;
  }

  get length(): number {
    return this.#length;
  }

  push(element: T): void {
    element.previous = this.#tail;
    element.next = undefined;
    if (this.#tail) this.#tail.next = element;
    else this.#head = element;
    this.#tail = element;
    this.#length++;
  }

  remove(element: T): void {
    assert(this.#length > 0, 'removed from an empty list');
    const { previous, next } = element;
    if (previous) previous.next = next;
    else this.#head = next;
    if (next) next.previous = previous;
    else this.#tail = previous;
    element.previous = undefined;
    element.next = undefined;
    this.#length--;
  }

  *[Symbol.iterator](): Generator<T, void, void> {
    for (let element = this.#head; element; element = element.next) yield element;
  }
}
