/**
 * The client side of a connection: requests out, answers in, many at a time. It has no retries, timeouts or reconnects; its users implement
 * them.
 *
 * Everything created in one turn of the event loop is sent in one write: the requests that a turn read from many connections of a server
 * are forwarded together on this one.
 */

import type { Duplex } from 'node:stream';
import type { Clock } from '@hangar/core';
import { Allowance } from '../allowance.ts';
import { ConnectionError } from '../errors.ts';
import type { StreamError } from '../errors.ts';
import { frame, numberFrame } from '../frames.ts';
import type { Field } from '../hpack/field.ts';
import { Incoming } from '../incoming.ts';
import type { Received } from '../incoming.ts';
import { Outgoing } from '../outgoing.ts';
import { errorCode, flag, frameType, headerTableBytes, initialWindow, preface, setting } from '../protocol.ts';
import { ReceiveWindow } from '../receive-window.ts';
import { settingsFrame } from '../settings.ts';
import { ClientStream } from './client-stream.ts';
import type { StreamEvents } from './client-stream.ts';

export interface ClientSessionOptions {
  readonly clock: Clock;
  /** Bytes that a server may send of one answer, and of all, before they are read. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** Called when the server's first settings have arrived. */
  readonly onReady: () => void;
  /** Called once, last, after every stream was notified. */
  readonly onClose: (error: Error | undefined) => void;
}

const headerLimits = { bytesMax: 64 * 1024, fieldsMax: 256 };
/** A server may send these at any time: the bound is only against a faulty one. */
const emptyFrames = { burst: 10_000, perSecond: 1_000 };
/** The highest stream identifier. */
const streamIdMax = 2 ** 31 - 1;

export class ClientSession {
  readonly #socket: Duplex;
  readonly #options: ClientSessionOptions;
  readonly #outgoing: Outgoing;
  readonly #incoming: Incoming;
  readonly #window: ReceiveWindow;
  readonly #streams = new Map<number, ClientStream>();
  /** Streams that exceed the server's limit of concurrent streams. */
  readonly #waiting = new Set<ClientStream>();
  readonly #pings: (() => void)[] = [];
  #nextId = 1;
  #concurrentMax = Infinity;
  #streamWindow = initialWindow;
  #isReady = false;
  #isClosing = false;
  #isClosed = false;

  constructor(socket: Duplex, options: ClientSessionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outgoing = new Outgoing(
      socket,
      () => this.destroy(new Error('the server stopped reading from the connection')),
      (flush) => void options.clock.soon(flush),
    );
    const allowance = new Allowance(options.clock, emptyFrames.burst, emptyFrames.perSecond);
    this.#incoming = new Incoming(this.#received(), headerLimits, { emptyFrames: allowance, hasPreface: false });
    this.#window = new ReceiveWindow(options.connectionWindowBytes);
    socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy(new Error('the connection was closed')));
    socket.on('end', () => this.destroy(new Error('the server closed the connection')));
    this.#outgoing.append(preface);
    this.#outgoing.append(
      settingsFrame([
        [setting.enablePush, 0],
        [setting.initialWindowSize, options.streamWindowBytes],
        [setting.maxHeaderListSize, headerLimits.bytesMax],
      ]),
    );
    const more = options.connectionWindowBytes - initialWindow;
    if (more > 0) this.#outgoing.append(numberFrame(frameType.windowUpdate, 0, more));
  }

  /** Reports whether new requests may begin. */
  get isOpen(): boolean {
    return !this.#isClosing && !this.#isClosed && this.#nextId <= streamIdMax;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Number of requests in progress and waiting. */
  get load(): number {
    return this.#streams.size + this.#waiting.size;
  }

  /** Number of concurrent requests that the server allows. */
  get concurrentMax(): number {
    return this.#concurrentMax;
  }

  /** `block`: the encoded headers. A bodiless request is sent whole, and never written to. The session must be open. */
  request(block: string, events: StreamEvents, isBodiless = false): ClientStream {
    const stream = new ClientStream(block, events, {
      outgoing: this.#outgoing,
      receiveWindowBytes: this.#options.streamWindowBytes,
      isBodiless,
      ended: (one) => this.#ended(one),
    });
    if (this.#streams.size < this.#concurrentMax) this.#begin(stream);
    else this.#waiting.add(stream);
    return stream;
  }

  ping(onAnswer: () => void): void {
    if (this.#isClosed) return;
    this.#pings.push(onAnswer);
    this.#outgoing.append(frame(frameType.ping, 0, 0, Buffer.alloc(8)));
  }

  /** Accepts no new requests, and closes when those in progress have completed. */
  close(): void {
    this.#isClosing = true;
    if (this.#streams.size === 0 && this.#waiting.size === 0) this.destroy(undefined);
  }

  /** Closes everything now. */
  destroy(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const streams = [...this.#waiting, ...this.#streams.values()];
    this.#waiting.clear();
    this.#streams.clear();
    const faults: unknown[] = [];
    for (const stream of streams) {
      // A failure of one must not prevent the notification of the others.
      try {
        stream.lost(error);
      } catch (fault) {
        faults.push(fault);
      }
    }
    this.#socket.destroy();
    this.#options.onClose(error);
    if (faults.length > 0) throw faults[0];
  }

  #begin(stream: ClientStream): void {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, stream);
    stream.begin(id, this.#streamWindow);
  }

  #ended(stream: ClientStream): void {
    this.#waiting.delete(stream);
    if (stream.id !== 0) this.#streams.delete(stream.id);
    this.#beginWaiting();
    if (this.#isClosing) this.close();
  }

  #beginWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#concurrentMax || this.#nextId > streamIdMax) return;
      this.#waiting.delete(stream);
      this.#begin(stream);
    }
  }

  #feed(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#incoming.feed(chunk);
    } catch (error) {
      const code = error instanceof ConnectionError ? error.code : errorCode.internal;
      const payload = Buffer.alloc(8);
      payload.writeUInt32BE(code, 4);
      this.#outgoing.append(frame(frameType.goAway, 0, 0, payload));
      this.#outgoing.flush();
      this.destroy(error as Error);
    }
  }

  #received(): Received {
    return {
      data: (id, payload, flowBytes, isLast) => this.#data(id, payload, flowBytes, isLast),
      headers: (id, fields, isLast) => this.#headers(id, fields, isLast),
      reset: (id, code) => this.#streams.get(id)?.wasReset(code),
      setting: (id, value) => this.#setting(id, value),
      settingsEnd: () => this.#settingsEnd(),
      ping: (payload) => this.#outgoing.append(frame(frameType.ping, flag.ack, 0, payload)),
      pong: () => this.#pings.shift()?.(),
      goAway: (lastId, code) => this.#goAway(lastId, code),
      windowUpdate: (id, bytes) => this.#windowUpdate(id, bytes),
      streamError: (error: StreamError) => this.#streams.get(error.streamId)?.reset(error.code),
    };
  }

  #data(id: number, payload: Buffer, flowBytes: number, isLast: boolean): void {
    if (!this.#window.take(flowBytes))
      throw new ConnectionError(errorCode.flowControl, 'DATA exceeds the flow-control window');
    // Also for a stream without a reader.
    const given = this.#window.give(flowBytes);
    if (given > 0) this.#outgoing.append(numberFrame(frameType.windowUpdate, 0, given));
    this.#streams.get(id)?.data(payload, flowBytes, isLast);
  }

  #headers(id: number, fields: readonly Field[] | undefined, isLast: boolean): void {
    this.#streams.get(id)?.head(fields, isLast);
  }

  #setting(id: number, value: number): void {
    if (id === setting.maxConcurrentStreams) this.#concurrentMax = value;
    if (id === setting.headerTableSize && value < headerTableBytes) this.#outgoing.mustEmptyTable = true;
    if (id !== setting.initialWindowSize) return;
    const change = value - this.#streamWindow;
    this.#streamWindow = value;
    for (const stream of this.#streams.values()) {
      if (!stream.widen(change))
        throw new ConnectionError(errorCode.flowControl, 'the flow-control window exceeds 2^31-1 bytes');
    }
  }

  #settingsEnd(): void {
    this.#outgoing.append(frame(frameType.settings, flag.ack, 0, Buffer.alloc(0)));
    this.#beginWaiting();
    if (this.#isReady) return;
    this.#isReady = true;
    this.#options.onReady();
  }

  /** The server closes: requests that it has not begun will not be processed. */
  #goAway(lastId: number, code: number): void {
    this.#isClosing = true;
    const reason = new Error(`the server sent GOAWAY (HTTP/2 code ${code})`);
    for (const stream of [...this.#waiting, ...this.#streams.values()]) {
      if (stream.id === 0 || stream.id > lastId) stream.refused(reason);
    }
    this.close();
  }

  #windowUpdate(id: number, bytes: number): void {
    if (id === 0) {
      if (bytes === 0) throw new ConnectionError(errorCode.protocol, 'WINDOW_UPDATE increment is zero');
      if (!this.#outgoing.widen(bytes))
        throw new ConnectionError(errorCode.flowControl, 'the flow-control window exceeds 2^31-1 bytes');
      return;
    }
    const stream = this.#streams.get(id);
    if (bytes === 0) stream?.reset(errorCode.protocol);
    else if (stream && !stream.widen(bytes)) stream.reset(errorCode.flowControl);
  }
}
