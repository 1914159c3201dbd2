/**
 * One HTTP/2 connection, server side (RFC 9113): reads frames, passes requests to the handler, and writes responses as frames. Priorities
 * are parsed and ignored; there is no server push.
 *
 * The cost of a connection is limited: open streams, running handlers (including those of reset streams), resets, empty frames, bytes of
 * headers, unread bytes of bodies. A client that exceeds a limit gets ENHANCE_YOUR_CALM and the connection is closed.
 *
 * Requests are passed on after the whole chunk was parsed: a request that is reset in the same chunk never starts.
 */

import type { Socket } from 'node:net';
import { Activity, runActivity } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import {
  Allowance,
  ConnectionError,
  encodedField,
  encodedHead,
  errorCode,
  flag,
  frame,
  frameType,
  headerTableBytes,
  Incoming,
  initialWindow,
  numberFrame,
  Outgoing,
  ReceiveWindow,
  setting,
  settingsFrame,
  StreamError,
} from '@hangar/http2';
import type { Field, Received } from '@hangar/http2';
import { httpDate } from '../date.ts';
import type { Answer, Handler, Intake, Peer } from '../message.ts';
import { areTrailers, requestHead } from './request-head.ts';
import { Stream, streamWindow } from './stream.ts';
import type { StreamHost } from './stream.ts';
import { HeldAnswers } from '../held-answers.ts';

export interface ConnectionOptions {
  readonly peer: Peer;
  readonly clock: Clock;
  readonly handler: Handler;
  /** Absent: requests are handled at once. */
  readonly intake?: Intake | undefined;
  /** Called with errors below the handler. */
  readonly onError: (error: Error) => void;
  /** Timeout for the first frame and for each header block. */
  readonly headTimeoutMs: number;
  /** Timeout without any request. */
  readonly idleTimeoutMs: number;
}

const streamsMax = 250;
const headerBytesMax = 64 * 1024;
const headersMax = 256;
const connectionWindow = 4 * 1024 * 1024;
/** As in other servers: no legitimate client cancels a thousand requests at once. */
const resetsAtOnce = 1_000;
const resetsPerSecond = 33;
const emptyFramesAtOnce = 1_000;
const emptyFramesPerSecond = 100;
/** Number of streams reset by this side that are remembered, because frames for them may still be in flight. */
const resetByUsMax = 1_000;
/** Time for the peer to read GOAWAY. */
const lingerMs = 1_000;

const greeting = Buffer.concat([
  settingsFrame([
    [setting.maxConcurrentStreams, streamsMax],
    [setting.initialWindowSize, streamWindow],
    [setting.maxHeaderListSize, headerBytesMax],
  ]),
  numberFrame(frameType.windowUpdate, 0, connectionWindow - initialWindow),
]);
const settingsAck = frame(frameType.settings, flag.ack, 0, new Uint8Array());
const tooManyHeaders: Answer = { status: 431, headers: {}, body: [] };

const protocolError = (message: string): ConnectionError => new ConnectionError(errorCode.protocol, message);

export class Connection implements StreamHost, Received {
  readonly peer: Peer;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  readonly held = new HeldAnswers();
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #incoming: Incoming;
  readonly #streams = new Map<number, Stream>();
  /** Streams opened by the current chunk. */
  #opened: Stream[] = [];
  readonly #resetByUs = new Set<number>();
  readonly #resets: Allowance;
  readonly #window = new ReceiveWindow(connectionWindow);
  #lastId = 0;
  /** Running handlers of closed streams. */
  #orphans = 0;
  #sendWindow = initialWindow;
  #peerTableBytes = headerTableBytes;
  #isClosing = false;
  #isFinished = false;
  #head: Timer | undefined;
  #idle: Timer | undefined;
  #idleSinceMs: number;

  constructor(socket: Socket, options: ConnectionOptions) {
    const { peer, clock } = options;
    this.peer = peer;
    this.clock = clock;
    this.#socket = socket;
    this.#options = options;
    this.#resets = new Allowance(clock, resetsAtOnce, resetsPerSecond);
    const emptyFrames = new Allowance(clock, emptyFramesAtOnce, emptyFramesPerSecond);
    this.#incoming = new Incoming(
      this,
      { bytesMax: headerBytesMax, fieldsMax: headersMax },
      { emptyFrames, hasPreface: true },
    );
    // Streams are closed on the socket's events, not here: the caller may be in the middle of sending.
    this.outgoing = new Outgoing(socket, () => socket.destroy());
    this.#idleSinceMs = clock.monotonicMs();
    this.#awaitIdle(options.idleTimeoutMs);
    this.#awaitHead();
    // Writes are complete messages, so Nagle's algorithm would only delay them.
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    socket.once('end', () => this.#stop());
    socket.once('close', () => this.#stop());
    this.outgoing.append(greeting);
  }

  /** Stops accepting requests, ends watches, and closes when the requests in flight are answered. */
  close(): void {
    if (this.#isClosing) return;
    this.#goAway(errorCode.none);
    if (this.#streams.size === 0) this.#finish();
    // Written data is sent, and the client sees a normal end of the stream. Finite responses complete by themselves.
    for (const stream of this.#streams.values()) if (stream.isStreaming) stream.end();
  }

  /** Resets streams in flight: some clients treat the close of a connection as the end of a response. */
  abort(): void {
    for (const stream of this.#streams.values()) stream.close(errorCode.internal);
    this.#finish();
  }

  // Receiving.

  #feed(chunk: Buffer): void {
    if (this.#isFinished) return;
    try {
      this.#incoming.feed(chunk);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#opened.length > 0) this.#handOver();
    if (this.#incoming.isPending) this.#awaitHead();
    else if (this.#head) {
      this.#head.cancel();
      this.#head = undefined;
    }
  }

  data(id: number, payload: Buffer, flowBytes: number, isLast: boolean): void {
    if (!this.#window.take(flowBytes))
      throw new ConnectionError(errorCode.flowControl, 'DATA exceeds the flow-control window');
    const stream = this.#known(id);
    if (!stream) return this.#credit(flowBytes);
    stream.receive(payload, flowBytes);
    if (isLast) stream.receiveEnd();
  }

  headers(id: number, fields: readonly Field[] | undefined, isLast: boolean): void {
    if (id > this.#lastId) return this.#open(id, fields, isLast);
    const stream = this.#known(id);
    if (!stream) return;
    if (!stream.isRemoteEnded && !(isLast && fields && areTrailers(fields))) {
      throw new StreamError(id, errorCode.protocol, 'bad trailers');
    }
    stream.receiveEnd();
  }

  /** Returns undefined if this side reset the stream. */
  #known(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream || this.#resetByUs.has(id)) return stream;
    this.#requireOpened(id);
    throw new ConnectionError(errorCode.streamClosed, 'the frame is for a closed stream');
  }

  #requireOpened(id: number): void {
    if (id > this.#lastId) throw protocolError('the frame is for a stream that was not opened');
  }

  #open(id: number, fields: readonly Field[] | undefined, isLast: boolean): void {
    this.#lastId = id;
    // Refuse also while closing, so that the client can retry on another connection.
    if (this.#isClosing || this.#streams.size + this.#orphans >= streamsMax) {
      throw new StreamError(id, errorCode.refusedStream, 'too many streams');
    }
    const head = fields ? requestHead(fields) : { method: 'GET', target: '/', contentLength: -1 };
    if (!head) throw new StreamError(id, errorCode.protocol, 'a malformed request');
    const stream = new Stream(id, head, fields ?? [], this, this.#sendWindow);
    this.#streams.set(id, stream);
    if (isLast) stream.receiveEnd();
    if (fields) this.#opened.push(stream);
    else stream.answer(tooManyHeaders);
  }

  reset(id: number): void {
    this.#requireOpened(id);
    this.#countReset();
    this.#streams.get(id)?.close();
  }

  streamError({ streamId, code, message }: StreamError): void {
    // An idle stream cannot be reset (RFC 9113, 6.4).
    if (streamId > this.#lastId) throw new ConnectionError(code, message);
    // A reset provoked by the client costs as much as one that it sends.
    this.#countReset();
    this.#sendReset(streamId, code);
    this.#streams.get(streamId)?.close();
  }

  #countReset(): void {
    if (!this.#resets.take()) throw new ConnectionError(errorCode.enhanceYourCalm, 'too many resets');
  }

  setting(id: number, value: number): void {
    if (id === setting.headerTableSize) {
      if (value < this.#peerTableBytes) this.outgoing.mustEmptyTable = true;
      this.#peerTableBytes = value;
    } else if (id === setting.initialWindowSize) {
      const more = value - this.#sendWindow;
      this.#sendWindow = value;
      for (const stream of this.#streams.values()) {
        if (!stream.widen(more))
          throw new ConnectionError(errorCode.flowControl, 'the flow-control window exceeds 2^31-1 bytes');
      }
    }
  }

  settingsEnd(): void {
    this.outgoing.append(settingsAck);
  }

  ping(payload: Buffer): void {
    this.outgoing.append(frame(frameType.ping, flag.ack, 0, payload));
  }

  windowUpdate(id: number, bytes: number): void {
    if (id === 0) {
      if (bytes === 0) throw protocolError('WINDOW_UPDATE increment is zero');
      if (!this.outgoing.widen(bytes))
        throw new ConnectionError(errorCode.flowControl, 'the flow-control window exceeds 2^31-1 bytes');
      return;
    }
    this.#requireOpened(id);
    const stream = this.#streams.get(id);
    if (!stream) return;
    if (bytes === 0) throw new StreamError(id, errorCode.protocol, 'WINDOW_UPDATE increment is zero');
    if (!stream.widen(bytes))
      throw new StreamError(id, errorCode.flowControl, 'the flow-control window exceeds 2^31-1 bytes');
  }

  // Requests and responses.

  #handOver(): void {
    const opened = this.#opened;
    this.#opened = [];
    const { intake } = this.#options;
    for (const stream of opened) {
      if (intake && !stream.isClosed) intake.take(this.peer, () => this.#handle(stream));
      else this.#handle(stream);
    }
  }

  #handle(stream: Stream): void {
    if (stream.isClosed) return;
    stream.isBusy = true;
    runActivity(new Activity(stream.method, stream.target), () => this.#answer(stream));
  }

  #answer(stream: Stream): void {
    this.#options
      .handler(stream)
      .then((answer) => {
        this.#settled(stream);
        stream.answer(answer);
        if (this.#isClosing && stream.isStreaming) stream.end();
      })
      .catch((error: Error) => {
        this.#settled(stream);
        this.#options.onError(error);
        // Reset instead of END_STREAM: a client would treat that as a complete response.
        stream.close(errorCode.internal);
      });
  }

  #settled(stream: Stream): void {
    if (stream.isBusy && stream.isClosed) this.#orphans--;
    stream.isBusy = false;
  }

  block(status: number, headers: Answer['headers']): string {
    const date = headers['date'] === undefined ? encodedField('date', httpDate(this.clock)) : '';
    return encodedHead(status, headers) + date;
  }

  closed(stream: Stream, code: number | undefined): void {
    if (stream.isBusy) this.#orphans++;
    if (code !== undefined) this.#sendReset(stream.id, code);
    this.#streams.delete(stream.id);
    if (this.#streams.size > 0) return;
    this.#idleSinceMs = this.clock.monotonicMs();
    if (this.#isClosing) this.#finish();
  }

  #sendReset(id: number, code: number): void {
    this.#resetByUs.add(id);
    if (this.#resetByUs.size > resetByUsMax) this.#resetByUs.delete(this.#resetByUs.values().next().value!);
    this.outgoing.append(numberFrame(frameType.resetStream, id, code));
  }

  credit(stream: Stream, bytes: number): void {
    this.#credit(bytes);
    if (stream.isClosed || stream.isRemoteEnded) return;
    const more = stream.receiveWindow.give(bytes);
    if (more > 0) this.outgoing.append(numberFrame(frameType.windowUpdate, stream.id, more));
  }

  #credit(bytes: number): void {
    const more = this.#window.give(bytes);
    if (more > 0) this.outgoing.append(numberFrame(frameType.windowUpdate, 0, more));
  }

  // Closing.

  #fail(error: unknown): void {
    const isTheirs = error instanceof ConnectionError;
    if (!isTheirs) this.#options.onError(error as Error);
    this.#goAway(isTheirs ? error.code : errorCode.internal);
    this.#finish();
  }

  #goAway(code: number): void {
    this.#isClosing = true;
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(this.#lastId, 0);
    payload.writeUInt32BE(code, 4);
    this.outgoing.append(frame(frameType.goAway, 0, 0, payload));
  }

  /** Flushes, then closes when the peer does or after a short time. */
  #finish(): void {
    if (this.#isFinished) return;
    this.#stop();
    this.outgoing.flush();
    this.#socket.end();
    const linger = this.clock.after(lingerMs, () => this.#socket.destroy());
    this.#socket.once('close', () => linger.cancel());
  }

  #stop(): void {
    this.#isFinished = true;
    this.#isClosing = true;
    this.#idle?.cancel();
    this.#head?.cancel();
    for (const stream of this.#streams.values()) stream.close();
  }

  #awaitHead(): void {
    this.#head ??= this.clock.after(this.#options.headTimeoutMs, () => this.#fail(protocolError('too slow')));
  }

  /** One timer for many idle periods: requests do not touch it. */
  #awaitIdle(delayMs: number): void {
    this.#idle = this.clock.after(delayMs, () => {
      const idleMs = this.#streams.size > 0 ? 0 : this.clock.monotonicMs() - this.#idleSinceMs;
      const leftMs = this.#options.idleTimeoutMs - idleMs;
      if (leftMs <= 0) this.close();
      else this.#awaitIdle(leftMs);
    });
  }
}
