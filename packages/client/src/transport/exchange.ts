/**
 * One request and its response, shared by all transports. The carrier reports events (`head`, `data`, `end`, `fail`); the caller reads
 * `answered` and then the body. The exchange guarantees:
 *
 *   - the signal of the caller aborts it at any time; the listener is removed at the end;
 *   - silence of the server above the limit aborts it; a slow reader does not count as silence;
 *   - the overall timeout aborts it, even while bytes trickle in;
 *   - a body that is read as a whole is limited, because it is in memory;
 *   - unread data is limited: the carrier gets credit only for data that was read (`consumed`);
 *   - every early exit, including one by the reader, notifies the carrier once (`cancel`).
 */

import { abortError, assert } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { HttpAnswer, HttpRequest } from './contract.ts';

export interface Carrier {
  /** Called when the rest is not needed. Never after `end` or `fail`. */
  cancel(): void;
  /** Called when the reader consumed this number of bytes of `data`. */
  consumed?(bytes: number): void;
}

type HeaderOf = (name: string) => string | undefined;
type Chunk = IteratorResult<Uint8Array, void>;

const answerBytesMaxDefault = 256 * 1024 * 1024;
/** Maximum size of an error response: a Status, or the text of a proxy. */
const refusalBytesMax = 1024 * 1024;

const none: Chunk = { done: true, value: undefined };

export class Exchange implements HttpAnswer {
  status = 0;
  readonly answered: Promise<HttpAnswer>;
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #onAbort: (() => void) | undefined;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: Error) => void;
  readonly #silenceMs: number;
  readonly #answerTimeoutMs: number;
  readonly #answerBytesMax: number;
  #carrier: Carrier | undefined;
  #header: HeaderOf = () => undefined;
  #chunks: Uint8Array[] = [];
  #mode: 'unread' | 'whole' | 'stream' = 'unread';
  #state: 'open' | 'ended' | 'failed' = 'open';
  #error: Error | undefined;
  /** Wakes the reader that waits for the next chunk or the end. */
  #wake: (() => void) | undefined;
  #timer: Timer | undefined;
  #begunMs = 0;
  #heardMs = 0;
  /** Size of a body that is read as a whole. */
  #bytes = 0;

  constructor(request: Omit<HttpRequest, 'method' | 'target'>, clock: Clock) {
    const { signal, silenceMs = Infinity, answerTimeoutMs = Infinity } = request;
    this.#signal = signal;
    this.#silenceMs = silenceMs;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#answerBytesMax = request.answerBytesMax ?? answerBytesMaxDefault;
    this.#clock = clock;
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    this.answered = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    if (signal) {
      this.#onAbort = () => this.#abandon(abortError(signal));
      if (signal.aborted) this.#onAbort();
      else signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    const firstMs = Math.min(silenceMs, answerTimeoutMs);
    if (firstMs !== Infinity && this.#state === 'open') {
      this.#begunMs = this.#heardMs = clock.monotonicMs();
      this.#timer = clock.after(firstMs, () => this.#checkTime());
    }
  }

  /** Returns false if it was aborted before a carrier could start. */
  begin(carrier: Carrier): boolean {
    if (this.isOver) return false;
    this.#carrier = carrier;
    return true;
  }

  /** Includes a signal whose listeners are still being called: an earlier listener may check this. */
  get isOver(): boolean {
    if (this.#signal?.aborted) this.#onAbort!();
    return this.#state !== 'open';
  }

  /** Called with the head of the response, without informational heads (1xx) and trailers. */
  head(status: number, header: HeaderOf): void {
    if (this.#state !== 'open') return;
    this.status = status;
    this.#header = header;
    this.#heard();
    this.#resolve(this);
  }

  data(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#heard();
    this.#chunks.push(chunk);
    if (this.#mode === 'whole') this.#keep(chunk.length);
    else this.#wakeReader();
  }

  end(): void {
    if (this.#state !== 'open') return;
    if (this.status === 0)
      return this.fail(new ClientError('ConnectionLost', 'the server closed the stream without a response'));
    this.#finish('ended');
  }

  /** Data received before the failure can still be read. */
  fail(error: Error): void {
    if (this.#state !== 'open') return;
    this.#error = error;
    this.#finish('failed');
    if (this.status === 0) this.#reject(error);
  }

  header(name: string): string | undefined {
    return this.#header(name);
  }

  async body(): Promise<Buffer> {
    this.#read('whole');
    let early = 0;
    for (const chunk of this.#chunks) early += chunk.length;
    if (early > 0) this.#keep(early);
    if (this.#state === 'open') await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#error) throw this.#error;
    const chunks = this.#chunks;
    this.#chunks = [];
    if (chunks.length === 1) {
      const { buffer, byteOffset, byteLength } = chunks[0]!;
      return Buffer.from(buffer, byteOffset, byteLength);
    }
    return Buffer.concat(chunks);
  }

  stream(): AsyncIterable<Uint8Array> {
    this.#read('stream');
    // Not a generator: one that waits for a chunk cannot be left until the chunk arrives.
    const iterator: AsyncIterator<Uint8Array, void, void> = {
      next: () => this.#next(),
      return: () => {
        this.#chunks = [];
        this.#abandon(new ClientError('ConnectionLost', 'the reader of the response stopped'));
        this.#error = undefined;
        return Promise.resolve(none);
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  /** Maximum size of `body`. */
  get bodyBytesMax(): number {
    const isRefusal = this.status < 200 || this.status > 299;
    return isRefusal ? Math.min(refusalBytesMax, this.#answerBytesMax) : this.#answerBytesMax;
  }

  /** Counts bytes of a body that is read as a whole. */
  #keep(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.bodyBytesMax) return this.#carrier?.consumed?.(bytes);
    const tooLong = answerTooLong(this.bodyBytesMax);
    this.#chunks = [];
    if (this.#state === 'open') this.#abandon(tooLong);
    else this.#error ??= tooLong;
  }

  async #next(): Promise<Chunk> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#carrier?.consumed?.(chunk.length);
        return { done: false, value: chunk };
      }
      if (this.#error) throw this.#error;
      if (this.#state !== 'open') return none;
      assert(this.#wake === undefined, 'the body of a response can have only one reader');
      this.#heard();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #read(mode: 'whole' | 'stream'): void {
    assert(this.#mode === 'unread', 'the body of a response can be read only once');
    this.#mode = mode;
  }

  /** Aborts it locally: the rest is not needed. */
  #abandon(error: Error): void {
    if (this.#state !== 'open') return;
    this.#chunks = [];
    const carrier = this.#carrier;
    this.fail(error);
    carrier?.cancel();
  }

  #finish(state: 'ended' | 'failed'): void {
    this.#state = state;
    this.#carrier = undefined;
    this.#timer?.cancel();
    if (this.#onAbort) this.#signal!.removeEventListener('abort', this.#onAbort);
    this.#wakeReader();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #heard(): void {
    if (this.#timer) this.#heardMs = this.#clock.monotonicMs();
  }

  #checkTime(): void {
    const [silenceMs, answerTimeoutMs, nowMs] = [this.#silenceMs, this.#answerTimeoutMs, this.#clock.monotonicMs()];
    const isAwaited = this.status === 0 || this.#wake !== undefined;
    const silentLeftMs = isAwaited ? this.#heardMs + silenceMs - nowMs : silenceMs;
    const leftMs = Math.min(silentLeftMs, this.#begunMs + answerTimeoutMs - nowMs);
    if (leftMs > 0) this.#timer = this.#clock.after(leftMs, () => this.#checkTime());
    else if (silentLeftMs <= 0) this.#abandon(timedOut(`the server sent nothing for ${silenceMs} ms`));
    else this.#abandon(timedOut(`the response was not complete after ${answerTimeoutMs} ms`));
  }
}

const timedOut = (message: string): ClientError => new ClientError('TimedOut', message);

export const answerTooLong = (bytesMax: number): ClientError =>
  new ClientError('MalformedAnswer', `the response is larger than ${bytesMax} bytes`);
