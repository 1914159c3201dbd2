/** Limits the connections to nodes, pods and services that are open at the same time: per control plane, and per process. */

import { tooManyRequests } from '@hangar/api';

const retryAfterSeconds = 1;

export class StreamLimit {
  readonly #max: number;
  readonly #of: string;
  readonly #parent: StreamLimit | undefined;
  #open = 0;

  /** `of` names the owner in messages: `this server`. A stream is counted in the parent too. */
  constructor(max: number, of: string, parent?: StreamLimit) {
    this.#max = max;
    this.#of = of;
    this.#parent = parent;
  }

  get open(): number {
    return this.#open;
  }

  /** Returns the function that ends the count. Throws 429 if too many streams are open. */
  enter(): () => void {
    if (this.#open >= this.#max) {
      throw tooManyRequests(
        `too many connections to nodes: ${this.#of} has ${this.#open} open log, exec, attach, portforward and proxy requests, and at most ${this.#max} are allowed`,
        retryAfterSeconds,
      );
    }
    const leave = this.#parent?.enter();
    this.#open++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      leave?.();
    };
  }
}
