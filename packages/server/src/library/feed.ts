/**
 * Recent changes of a storage that one process writes, for watches: call `push` for every change, and return `feed.watch(after, signal)`
 * from the storage's `watch`. Older changes are dropped; a watch that needs them fails with 410, after which Kubernetes clients relist.
 */

import type { KubeObject } from '@hangar/api';
import { CompactedError } from '@hangar/store';
import type { Revision } from '@hangar/store';
import type { Change } from './storage.ts';

/** Keeps the recent changes of a storage that only one process writes, and implements `KindStorage.watch`. */
export class Feed<T extends KubeObject> {
  readonly #changesMax: number;
  #changes: Change<T>[] = [];
  /** Changes up to this version have been dropped. */
  #floor: number;
  #waiting: (() => void)[] = [];

  /** `version` is the current version of the storage. */
  constructor(version: number, changesMax = 1_000) {
    this.#floor = version;
    this.#changesMax = changesMax;
  }

  /** Adds a change. Changes must be added in the order of their versions. */
  push(change: Change<T>): void {
    this.#changes.push(change);
    if (this.#changes.length > 2 * this.#changesMax) {
      const gone = this.#changes.splice(0, this.#changes.length - this.#changesMax);
      this.#floor = gone.at(-1)!.version;
    }
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async *watch(after: number, signal: AbortSignal): AsyncGenerator<Change<T>> {
    let seen = after;
    while (!signal.aborted) {
      if (seen < this.#floor) throw new CompactedError(seen as Revision, this.#floor as Revision);
      const next = this.#after(seen);
      if (next) {
        seen = next.version;
        yield next;
      } else await this.#more(signal);
    }
  }

  #after(version: number): Change<T> | undefined {
    // Most watches need only the last changes.
    let at = this.#changes.length;
    while (at > 0 && this.#changes[at - 1]!.version > version) at--;
    return this.#changes[at];
  }

  #more(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const resume = (): void => resolve();
    this.#waiting.push(resume);
    signal.addEventListener('abort', resume, { once: true });
    return promise.finally(() => {
      signal.removeEventListener('abort', resume);
      this.#waiting = this.#waiting.filter((one) => one !== resume);
    });
  }
}
