/**
 * Limits the connections to nodes, pods and services that are open at the same time: per control plane, and for all of them together. A
 * control plane may have at most as many as are free in total, so one alone cannot take all; one without any always gets the first.
 */

import { tooManyRequests } from '@hangar/api';

const retryAfterSeconds = 1;
const defaultTotalMax = 2_048;

/** The streams of all control planes of a process. */
export class TotalStreams {
  readonly #max: number;
  open = 0;
  /** Number of requests beyond a limit. */
  refused = 0;

  constructor(max = defaultTotalMax) {
    this.#max = max;
  }

  get free(): number {
    return this.#max - this.open;
  }
}

export class StreamLimit {
  readonly #max: number;
  readonly #plane: string;
  readonly #total: TotalStreams;
  #open = 0;

  constructor(max: number, plane: string, total = new TotalStreams()) {
    this.#max = max;
    this.#plane = plane;
    this.#total = total;
  }

  get open(): number {
    return this.#open;
  }

  /** Returns the function that ends the count. Throws 429 if too many streams are open. */
  enter(): () => void {
    if (this.#open >= this.#max) throw this.#refusal(`at most ${this.#max} are allowed`);
    if (this.#open > 0 && this.#open >= this.#total.free) throw this.#refusal('the limit of this server is reached');
    this.#count(1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(-1);
      isOpen = false;
    };
  }

  #count(change: 1 | -1): void {
    this.#open += change;
    this.#total.open += change;
  }

  #refusal(why: string): Error {
    this.#total.refused++;
    return tooManyRequests(
      `too many connections to nodes: control plane "${this.#plane}" has ${this.#open} open log, exec, attach, portforward and proxy requests, and ${why}`,
      retryAfterSeconds,
    );
  }
}
