/**
 * Decides whether one instance of a cluster may still be written to. Writes follow the ownership while the instance is engaged and while it
 * drains, so that running work can finish. After that all writes are rejected, even for code that still holds the client.
 */

import { abortError, hasCode, orAborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { Ownership } from '../contract.ts';

interface FenceOptions {
  readonly name: ClusterName;
  readonly clock: Clock;
  readonly ownership: Ownership;
}

/** Rejects writes to a cluster that this process does not own. */
export class Fence {
  readonly #options: FenceOptions;
  #isClosed = false;

  constructor(options: FenceOptions) {
    this.#options = options;
  }

  /** Rejects all further writes. */
  close(): void {
    this.#isClosed = true;
  }

  /** Throws `Fenced` when writes are not allowed. */
  check(): void {
    if (this.#isClosed) throw this.#fenced('is disengaged');
    this.#options.ownership.check();
  }

  /**
   * Sends a write while the ownership is valid. A write that is still running when the ownership can no longer be proven is aborted and
   * rejects with `Fenced`; the server may have executed it.
   */
  async write<T>(signal: AbortSignal | undefined, send: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    this.check();
    return this.#options.ownership.remainingMs() === Infinity ? send(signal) : this.#bounded(signal, send);
  }

  async #bounded<T>(signal: AbortSignal | undefined, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, ownership } = this.#options;
    if (signal?.aborted) throw abortError(signal);
    const ended = new AbortController();
    const onAbort = (): void => ended.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    // The ownership may have been renewed meanwhile: then the deadline moves.
    const arm = (leftMs: number) =>
      clock.after(Math.max(0, leftMs), () => {
        const nowLeftMs = ownership.remainingMs();
        if (nowLeftMs > 0) timer = nowLeftMs === Infinity ? timer : arm(nowLeftMs);
        else ended.abort(this.#fenced('is no longer owned by this process: a write was aborted'));
      });
    let timer = arm(ownership.remainingMs());
    try {
      return await orAborted(send(ended.signal), ended.signal);
    } catch (error) {
      throw hasCode(ended.signal.reason, 'Fenced') ? ended.signal.reason : error;
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #fenced(what: string): RuntimeError {
    return new RuntimeError('Fenced', `cluster "${this.#options.name}" ${what}`);
  }
}
