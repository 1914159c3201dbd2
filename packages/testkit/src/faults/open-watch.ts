/**
 * One watch between the server and its reader that a test can interrupt. Invariant: after `cut`, `end` or `silence` the reader receives no
 * more data of the server, and the connection to the server is closed.
 */

import { ClientError } from '@hangar/client';
import type { HttpAnswer, HttpRequest } from '@hangar/client';
import { abortError } from '@hangar/core';
import type { Clock } from '@hangar/core';

type Fate = 'cut' | 'ended' | 'silent';

export class OpenWatch {
  readonly #signal: AbortSignal | undefined;
  readonly #silenceMs: number | undefined;
  readonly #clock: Clock;
  readonly #onClose: () => void;
  readonly #server = new AbortController();
  readonly #onAbort = (): void => {
    this.#server.abort(this.#signal!.reason);
    this.#wake?.();
    // A reader that leaves after an event does not read the end of the stream.
    this.#close();
  };
  #fate: Fate | undefined;
  #wake: (() => void) | undefined;

  constructor(
    { signal, silenceMs }: Pick<HttpRequest, 'signal' | 'silenceMs'>,
    { clock, onClose }: { readonly clock: Clock; readonly onClose: () => void },
  ) {
    this.#signal = signal;
    this.#silenceMs = silenceMs;
    this.#clock = clock;
    this.#onClose = onClose;
    if (signal?.aborted) this.#server.abort(signal.reason);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  async open(request: (signal: AbortSignal) => Promise<HttpAnswer>): Promise<HttpAnswer> {
    try {
      const answer = await request(this.#server.signal);
      return {
        status: answer.status,
        header: (name) => answer.header(name),
        body: async () => {
          const all: Uint8Array[] = [];
          for await (const chunk of this.#read(answer)) all.push(chunk);
          return Buffer.concat(all);
        },
        stream: () => this.#read(answer),
      };
    } catch (error) {
      this.#close();
      throw this.#fate === undefined ? error : lost();
    }
  }

  cut(): void {
    this.#meet('cut');
  }

  end(): void {
    this.#meet('ended');
  }

  silence(): void {
    this.#meet('silent');
  }

  async *#read(answer: HttpAnswer): AsyncGenerator<Uint8Array, void, void> {
    const chunks = answer.stream()[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#next(chunks);
        if (next === undefined || next.done) return;
        yield next.value;
      }
    } finally {
      this.#close();
      this.#server.abort();
    }
  }

  /** Returns undefined when it was interrupted. Not `Promise.race`, which would retain its losers for the lifetime of the watch. */
  async #next(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array> | undefined> {
    if (this.#fate === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array> | undefined>();
      this.#wake = () => resolve(undefined);
      chunks.next().then(resolve, reject);
      const next = await promise.catch((error: unknown) => {
        if (this.#fate === undefined) throw error;
        return undefined;
      });
      if (this.#fate === undefined && !this.#signal?.aborted) return next;
    }
    if (this.#fate === 'silent') await this.#beSilent();
    if (this.#signal?.aborted) throw abortError(this.#signal);
    if (this.#fate === 'cut') throw lost();
    return undefined;
  }

  /** Waits until it is cut, closed or aborted, or the reader times out: transports guarantee `silenceMs`. */
  async #beSilent(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const tooLong = new ClientError('TimedOut', `received nothing for ${this.#silenceMs} ms`);
    const timer = this.#silenceMs === undefined ? undefined : this.#clock.after(this.#silenceMs, () => reject(tooLong));
    try {
      if (!this.#signal?.aborted) await promise;
    } finally {
      timer?.cancel();
    }
  }

  #meet(fate: Fate): void {
    // A silent watch can still be cut; a closed one stays closed.
    if (this.#fate === 'cut' || this.#fate === 'ended') return;
    this.#fate = fate;
    this.#server.abort();
    this.#wake?.();
  }

  #close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#onClose();
  }
}

const lost = (): ClientError => new ClientError('ConnectionLost', 'watch disconnected, injected by the test');
