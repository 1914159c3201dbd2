/**
 * One request and its answer under way, for every transport alike. Whoever carries it says what comes (`head`, `data`, `end`, `fail`);
 * whoever asked reads `answered` and then the body. Between them:
 *
 *   - the caller's signal ends it at once, at any time, and is let go of when it has ended;
 *   - silence for longer than allowed ends it, while the server is waited for: a reader who takes its time is no silence;
 *   - the time that all of it may take ends it, however the bytes trickle;
 *   - what is read whole is bounded, since all of it is in memory;
 *   - what is not read yet is bounded by telling the carrier only of what was read (`consumed`);
 *   - leaving it, by any of these or by the reader, tells the carrier once (`cancel`).
 */

import { abortError, assert } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { HttpAnswer, HttpRequest } from './contract.ts';

export interface Carrier {
  /** Nobody waits for the rest. Not after `end` or `fail`. */
  cancel(): void;
  /** So many bytes of what was given to `data` were read. */
  consumed?(bytes: number): void;
}

type HeaderOf = (name: string) => string | undefined;
type Chunk = IteratorResult<Uint8Array, void>;

const answerBytesMaxDefault = 256 * 1024 * 1024;
/** Of what is no success: a Status, or what a proxy has to say. */
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
  /** Who waits for the next chunk, or for the end of all. */
  #wake: (() => void) | undefined;
  #timer: Timer | undefined;
  #begunMs = 0;
  #heardMs = 0;
  /** Of an answer that is read whole. */
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

  /** False: it has ended already, before anybody could carry it. */
  begin(carrier: Carrier): boolean {
    if (this.isOver) return false;
    this.#carrier = carrier;
    return true;
  }

  /** Also by a signal whose listeners are still being called: whoever was called before ours may ask. */
  get isOver(): boolean {
    if (this.#signal?.aborted) this.#onAbort!();
    return this.#state !== 'open';
  }

  /** Of the answer. Heads before it (1xx) and trailers are not given here. */
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

  /** What has come before it is still read. */
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
    // By hand: a generator that waits for a chunk cannot be left until one comes.
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

  /** The most that `body` gives. */
  get bodyBytesMax(): number {
    const isRefusal = this.status < 200 || this.status > 299;
    return isRefusal ? Math.min(refusalBytesMax, this.#answerBytesMax) : this.#answerBytesMax;
  }

  /** Of an answer that is read whole: so many bytes more. */
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

  /** Not the server's doing: nothing of it is wanted any more. */
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
