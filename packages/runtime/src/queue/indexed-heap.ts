/**
 * A binary heap whose elements store their index, so that any of them can be moved or removed in O(log n), for example when a delay is
 * shortened or a cluster is removed.
 */

export interface HeapElement {
  /** Maintained by the heap; -1: in no heap. */
  heapIndex: number;
}

export class IndexedHeap<T extends HeapElement> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #elements: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#elements[0];
  }

  get length(): number {
    return this.#elements.length;
  }

  push(element: T): void {
    this.#elements.push(element);
    this.#rise(element, this.#elements.length - 1);
  }

  /** The element must be in this heap. */
  remove(element: T): void {
    const index = element.heapIndex;
    element.heapIndex = -1;
    const last = this.#elements.pop()!;
    if (last === element) return;
    last.heapIndex = index;
    this.#elements[index] = last;
    this.moved(last);
  }

  /** Called after the order of the element has changed. */
  moved(element: T): void {
    const from = element.heapIndex;
    this.#rise(element, from);
    if (element.heapIndex === from) this.#sink(element, from);
  }

  #rise(element: T, from: number): void {
    const elements = this.#elements;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = elements[parentIndex]!;
      if (!this.#isBefore(element, parent)) break;
      elements[index] = parent;
      parent.heapIndex = index;
      index = parentIndex;
    }
    elements[index] = element;
    element.heapIndex = index;
  }

  #sink(element: T, from: number): void {
    const elements = this.#elements;
    let index = from;
    for (let childIndex = 2 * index + 1; childIndex < elements.length; childIndex = 2 * index + 1) {
      let child = elements[childIndex]!;
      const right = elements[childIndex + 1];
      if (right && this.#isBefore(right, child)) {
        child = right;
        childIndex++;
      }
      if (!this.#isBefore(child, element)) break;
      elements[index] = child;
      child.heapIndex = index;
      index = childIndex;
    }
    elements[index] = element;
    element.heapIndex = index;
  }
}
