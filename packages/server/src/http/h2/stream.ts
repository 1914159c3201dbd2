/**
 * One stream: a request, and the sink of its response.
 *
 *     open ── END_STREAM comes ──▶ half closed (remote) ── END_STREAM goes ──▶ closed
 *
 * If the response completes first, the rest of the request is refused with RST_STREAM(NO_ERROR), as RFC 9113, 8.1 allows and Go's server
 * does.
 */

import { lazy, resumed } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { encodedField, encodedFields, errorCode, ReceiveWindow, StreamError, windowMax } from '@hangar/http2';
import type { Field, Outgoing, Sender } from '@hangar/http2';
import { compressed } from '../compress.ts';
import { heldFrom, tooManyHeld } from '../held-answers.ts';
import type { HeldAnswers } from '../held-answers.ts';
import { isStreaming, nobody } from '../message.ts';
import type { Answer, Headers, Passing, Peer, ServerRequest, Sink, Streaming } from '../message.ts';
import { awaitTaken } from '../taking.ts';
import type { RequestHead } from './request-head.ts';
import { RequestBody } from './request-body.ts';

/** Interface of the connection for its streams. */
export interface StreamHost {
  readonly peer: Peer;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  readonly held: HeldAnswers;
  /** Encodes the headers of a response as a block. */
  block(status: number, headers: Answer['headers']): string;
  /** Called when the stream is closed; with a code, RST_STREAM is sent. */
  closed(stream: Stream, code: number | undefined): void;
  /** Called when this much of the request body was consumed. */
  credit(stream: Stream, bytes: number): void;
}

/** Above this, `write` returns false. */
const queuedBytesMax = 64 * 1024;
/** Receive window of a stream: bytes of a body that may arrive before they are read. */
export const streamWindow = 1024 * 1024;
/** Number of sent pieces in front of the queue before the rest is moved up. */
const sentPiecesMax = 64;
const nothing = new Uint8Array();

export class Stream implements ServerRequest, Sink, Sender {
  readonly id: number;
  readonly method: string;
  readonly target: string;
  readonly peer: Peer;
  /** Flow-control window for sending; negative if SETTINGS reduced it. */
  sendWindow: number;
  readonly receiveWindow = new ReceiveWindow(streamWindow);
  /** The request is complete. */
  isRemoteEnded = false;
  isClosed = false;
  /** The handler is running. */
  isBusy = false;
  /** The response is endless, as a watch is. */
  isStreaming = false;
  readonly #host: StreamHost;
  readonly #fields: readonly Field[];
  readonly #contentLength: number;
  #received = 0;
  #body: RequestBody | undefined;
  #passing: Passing | undefined;
  #queue: Uint8Array[] = [];
  /** Index of the first unsent piece in the queue. */
  #next = 0;
  #queuedBytes = 0;
  #isEnding = false;
  #trailers: Headers | undefined;
  /** Cancels the wait for the client to read the response. */
  #wasTaken: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  #onClose: (() => void)[] | undefined;

  constructor(id: number, head: RequestHead, fields: readonly Field[], host: StreamHost, sendWindow: number) {
    this.id = id;
    this.method = head.method;
    this.target = head.target;
    this.peer = host.peer;
    this.sendWindow = sendWindow;
    this.#host = host;
    this.#fields = fields;
    this.#contentLength = head.contentLength;
  }

  // Request.

  header(name: string): string | undefined {
    let all: string | undefined;
    for (const field of this.#fields) {
      if (field.name !== name) continue;
      // A cookie may be split into several fields (RFC 9113, 8.2.3).
      all = all === undefined ? field.value : all + (name === 'cookie' ? '; ' : ', ') + field.value;
    }
    // A client may send both; then they are equal.
    return all ?? (name === 'host' ? this.header(':authority') : undefined);
  }

  headerValues(name: string): readonly string[] {
    return this.#fields.filter((field) => field.name === name).map(({ value }) => value);
  }

  headerNames(): readonly string[] {
    const names: string[] = [];
    for (const { name } of this.#fields) if (!name.startsWith(':') && !names.includes(name)) names.push(name);
    return names;
  }

  body(bytesMax: number): Promise<Uint8Array> {
    // Without a body the head already completed the request.
    if (this.isRemoteEnded && !this.#body) return Promise.resolve(nothing);
    return this.#takenBody().whole(bytesMax, this.#host.clock).then(resumed);
  }

  get passing(): Passing {
    const body = lazy(() => this.#takenBody().stream());
    return (this.#passing ??= {
      get body() {
        return body();
      },
      onGone: (callback) => {
        this.onClose(callback);
        return () => (this.#onClose = this.#onClose?.filter((one) => one !== callback));
      },
    });
  }

  #takenBody(): RequestBody {
    if (this.#body) return this.#body;
    this.#body = new RequestBody((bytes) => this.#host.credit(this, bytes));
    if (this.isRemoteEnded) this.#body.end();
    else if (this.isClosed) this.#body.stop();
    return this.#body;
  }

  /** `flowBytes` includes the padding, which counts for flow control but has no consumer. */
  receive(piece: Buffer, flowBytes: number): void {
    const fault = this.#faultOf(piece, flowBytes);
    this.#received += piece.length;
    if (flowBytes > piece.length || fault) this.#host.credit(this, fault ? flowBytes : flowBytes - piece.length);
    if (fault) throw fault;
    if (piece.length > 0) this.#takenBody().piece(piece);
  }

  #faultOf(piece: Buffer, flowBytes: number): StreamError | undefined {
    if (this.isRemoteEnded) return this.#pastEnd();
    if (!this.receiveWindow.take(flowBytes)) {
      return new StreamError(this.id, errorCode.flowControl, 'DATA exceeds the flow-control window');
    }
    const isLonger = this.#contentLength !== -1 && this.#received + piece.length > this.#contentLength;
    return isLonger ? this.#wrongLength() : undefined;
  }

  receiveEnd(): void {
    if (this.isRemoteEnded) throw this.#pastEnd();
    if (this.#contentLength !== -1 && this.#received !== this.#contentLength) throw this.#wrongLength();
    this.isRemoteEnded = true;
    this.#body?.end();
  }

  #pastEnd(): StreamError {
    return new StreamError(this.id, errorCode.streamClosed, 'a frame follows the end of the request');
  }

  #wrongLength(): StreamError {
    return new StreamError(this.id, errorCode.protocol, 'the length of the body does not match content-length');
  }

  // Response.

  answer({ status, headers, body }: Answer): void {
    if (isStreaming(body)) return this.#answerStreaming(status, headers, body);
    if (this.isClosed) return;
    const block = this.#host.block(status, headers);
    compressed(body, this.header('accept-encoding'), ({ bytes, length, encoding }) => {
      if (this.isClosed) return;
      if (length >= heldFrom && this.method !== 'HEAD') {
        const release = this.#host.held.hold(length);
        // A write was done already: 429 would make the client send it again.
        if (!release) return this.method === 'GET' ? this.#refuse() : this.close(errorCode.enhanceYourCalm);
        this.onClose(release);
      }
      const ofLength = encodedField('content-length', String(length));
      const ofEncoding = encoding ? encodedField('content-encoding', encoding) : '';
      this.#answerWhole(block + ofLength + ofEncoding, bytes, length);
    });
  }

  #refuse(): void {
    const { status, headers, body } = tooManyHeld;
    const ofLength = encodedField('content-length', String(body.length));
    this.#answerWhole(this.#host.block(status, headers) + ofLength, [body], body.length);
  }

  #answerStreaming(status: number, headers: Answer['headers'], body: Streaming): void {
    const isHead = this.method === 'HEAD';
    try {
      if (!this.isClosed) this.#host.outgoing.head(this.id, this.#host.block(status, headers), isHead);
    } catch (error) {
      body.start(nobody);
      throw error;
    }
    if (isHead) {
      this.#ended();
      body.start(nobody);
    } else {
      this.isStreaming = !body.isFinite;
      body.start(this);
    }
  }

  #answerWhole(block: string, pieces: readonly Uint8Array[], length: number): void {
    const { outgoing } = this.#host;
    if (length === 0 || this.method === 'HEAD') {
      outgoing.head(this.id, block, true);
      return this.#ended();
    }
    const isShort = block.length < outgoing.frameBytesMax && pieces.length === 1 && this.#maySend(length);
    if (isShort) {
      this.sendWindow -= length;
      outgoing.answer(this.id, block, pieces[0]!);
      return this.#ended();
    }
    outgoing.head(this.id, block, false);
    this.#queue = [...pieces];
    this.#queuedBytes = length;
    outgoing.wants(this);
    this.#isEnding = true;
    this.#awaitTaken();
  }

  #maySend(length: number): boolean {
    const { outgoing } = this.#host;
    return (
      this.#queuedBytes === 0 &&
      outgoing.isOpen &&
      length <= outgoing.frameBytesMax &&
      length <= outgoing.window &&
      length <= this.sendWindow
    );
  }

  write(chunk: Uint8Array): boolean {
    const { length } = chunk;
    if (this.isClosed || this.#isEnding || length === 0) return true;
    if (this.#maySend(length)) {
      this.sendWindow -= length;
      this.#host.outgoing.data(this.id, chunk, false);
      return true;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += length;
    this.#host.outgoing.wants(this);
    return this.#queuedBytes < queuedBytesMax;
  }

  end(trailers?: Headers): void {
    if (this.isClosed || this.#isEnding) return;
    this.#isEnding = true;
    this.#trailers = trailers;
    if (this.#queuedBytes > 0) return this.#awaitTaken();
    if (trailers) return this.#endWithTrailers(trailers);
    this.#host.outgoing.data(this.id, nothing, true);
    this.#ended();
  }

  #endWithTrailers(trailers: Headers): void {
    this.#host.outgoing.head(this.id, encodedFields(trailers), true);
    this.#ended();
  }

  sendSome(): boolean {
    const { outgoing } = this.#host;
    const room = Math.min(outgoing.frameBytesMax, outgoing.window, this.sendWindow);
    if (this.isClosed || this.#queuedBytes === 0 || room <= 0) return false;
    const length = Math.min(room, this.#queuedBytes);
    const isLast = this.#isEnding && length === this.#queuedBytes;
    const trailers = this.#trailers;
    this.sendWindow -= length;
    this.#queuedBytes -= length;
    outgoing.dataHead(this.id, length, isLast && !trailers);
    this.#sendQueued(length);
    if (isLast && trailers) this.#endWithTrailers(trailers);
    else if (isLast) this.#ended();
    else if (this.#queuedBytes === 0) this.#onDrain?.();
    return this.#queuedBytes > 0;
  }

  #sendQueued(length: number): void {
    for (let left = length; left > 0;) {
      const piece = this.#queue[this.#next]!;
      const isWhole = piece.length <= left;
      this.#host.outgoing.append(isWhole ? piece : piece.subarray(0, left));
      // Release the piece: this response may hold the only reference.
      if (isWhole) this.#queue[this.#next++] = nothing;
      else this.#queue[this.#next] = piece.subarray(left);
      left -= piece.length;
    }
    if (this.#queuedBytes > 0 && this.#next <= sentPiecesMax) return;
    this.#queue = this.#queuedBytes > 0 ? this.#queue.slice(this.#next) : [];
    this.#next = 0;
  }

  #awaitTaken(): void {
    this.#wasTaken = awaitTaken(this.#host.clock, {
      left: () => this.#queuedBytes,
      drop: () => this.close(errorCode.cancel),
    });
  }

  /** Called for WINDOW_UPDATE and SETTINGS. */
  widen(bytes: number): boolean {
    this.sendWindow += bytes;
    if (this.#queuedBytes > 0 && this.sendWindow > 0) this.#host.outgoing.wants(this);
    return this.sendWindow <= windowMax;
  }

  abort(): void {
    this.close(errorCode.internal);
  }

  waitingBytes(): number {
    return this.#queuedBytes;
  }

  isFlushed(): boolean {
    return this.#queuedBytes === 0 && this.#host.outgoing.isFlushed;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    if (this.isClosed) callback();
    else (this.#onClose ??= []).push(callback);
  }

  #ended(): void {
    this.close(this.isRemoteEnded ? undefined : errorCode.none);
  }

  /** Closes the stream; with a code, RST_STREAM is sent. Nothing is received or sent afterwards. */
  close(code?: number): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#wasTaken?.();
    this.#host.outgoing.forget(this);
    this.#host.closed(this, code);
    this.#body?.stop();
    for (const callback of this.#onClose ?? []) callback();
  }
}
