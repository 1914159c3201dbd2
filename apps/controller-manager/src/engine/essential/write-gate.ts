/**
 * Gates the writes of one cluster by its ownership: each is sent only while ownership is proven, and aborted when it no longer is. A write
 * in flight is not aborted with its caller, because the server may be executing it. It is awaited for a limited time, so that no other
 * replica gets the cluster before its outcome is known.
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

/** Maximum duration of a write whose caller has gone. */
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

  /** Closes permanently: no further write is sent. */
  close(): void {
    this.#fence.close();
  }

  /** After `close`: resolves when no write is in flight. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
