/**
 * Writes of one cluster, under its ownership: each is sent only while the right to it is proven, and is broken off when it no longer is.
 * A write that was sent is not taken back when whoever asked for it goes away: the server may be doing it. It is waited for, for a
 * while, so that nobody else has the cluster before it is known to be over.
 */

import { abortError, orAborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Fence } from '@hangar/runtime/clusters';
import type { Ownership } from '@hangar/runtime/clusters';

export interface WriteGateOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly ownership: Ownership;
}

/** How long a write may take whose asker has gone. */
const lingerMs = 5_000;

export class WriteGate {
  readonly #clock: Clock;
  readonly #fence: Fence;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: WriteGateOptions) {
    this.#clock = options.clock;
    this.#fence = new Fence(options);
  }

  /** Rejects with `Fenced`, and with `Aborted` as soon as the signal fires. */
  async write<T>(signal: AbortSignal | undefined, send: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    if (signal?.aborted) throw abortError(signal);
    const ending = new AbortController();
    const writing = this.#fence.write(ending.signal, send);
    this.#underWay.add(writing);
    const onAbort = (): void => {
      const timer = this.#clock.after(lingerMs, () => ending.abort(signal!.reason));
      const over = (): void => timer.cancel();
      writing.then(over, over);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const over = (): void => {
      this.#underWay.delete(writing);
      signal?.removeEventListener('abort', onAbort);
    };
    writing.then(over, over);
    return orAborted(writing, signal);
  }

  /** For good: nothing is sent any more. */
  close(): void {
    this.#fence.close();
  }

  /** After `close`: resolves when nothing is under way. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
