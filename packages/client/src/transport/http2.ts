/**
 * One HTTP/2 connection. Unread data is limited for each response (its window is updated only as it is read); the window of the connection
 * is updated at once, so one slow watch does not block other requests. A share of the concurrent streams is reserved for short requests:
 * watches alone cannot fill a connection.
 */

import type { Duplex } from 'node:stream';
import type { Clock } from '@hangar/core';
import { encodedField, encodedPseudoField, errorCode } from '@hangar/http2';
import type { Field } from '@hangar/http2';
import { ClientSession } from '@hangar/http2/client';
import type { ClientStream, StreamEnd, StreamEvents } from '@hangar/http2/client';
import { ClientError } from '../errors.ts';
import { BrokenOff } from './connection.ts';
import type { Connection, ConnectionEvents, Outbound } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { Upload } from './upload.ts';
import type { Headers } from './headers.ts';
import { Keepalive } from './keepalive.ts';

export interface Http2Options extends ConnectionEvents {
  readonly clock: Clock;
  readonly authority: string;
  readonly readIdleMs: number;
  readonly pingTimeoutMs: number;
  readonly idleMs: number;
}

/** Maximum unread data of one response: enough throughput for a fast reader with high latency, bounded memory for a slow one. */
const streamWindowBytes = 1024 * 1024;
const connectionWindowBytes = 16 * 1024 * 1024;
/** Share of the concurrent streams for long-running requests. The rest is reserved for short ones. */
const longShare = 7 / 8;

interface Referable {
  ref?(): unknown;
  unref?(): unknown;
}

/** Resolves after the first frame of the server: the kernel of a stopped process accepts connections, too. */
export function openHttp2(socket: Duplex, options: Http2Options, signal: AbortSignal): Promise<Http2Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Http2Connection>();
  const onAbort = (): void => session.destroy(signal.reason as Error);
  const session = new ClientSession(socket, {
    clock: options.clock,
    streamWindowBytes,
    connectionWindowBytes,
    onReady: () => {
      signal.removeEventListener('abort', onAbort);
      resolve(connection);
    },
    onClose: (error) => {
      signal.removeEventListener('abort', onAbort);
      connection.closed();
      reject(error ?? new Error('the server closed the connection immediately'));
    },
  });
  const connection = new Http2Connection(session, socket, options);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return promise;
}

export class Http2Connection implements Connection {
  readonly isWhole = false;
  readonly #session: ClientSession;
  readonly #socket: Referable;
  readonly #options: Http2Options;
  readonly #keepalive: Keepalive;
  readonly #authority: string;
  readonly #encoded = new EncodedFields();
  #longs = 0;

  constructor(session: ClientSession, socket: Duplex, options: Http2Options) {
    this.#session = session;
    this.#socket = socket as Referable;
    this.#options = options;
    this.#authority = encodedPseudoField(':scheme', 'https') + encodedPseudoField(':authority', options.authority);
    this.#keepalive = new Keepalive({
      clock: options.clock,
      silenceMs: options.readIdleMs,
      answerMs: options.pingTimeoutMs,
      idleMs: options.idleMs,
      isUsed: () => session.load > 0,
      ping: (onAnswer) => session.ping(onAnswer),
      onDead: (error) => session.destroy(error),
      onIdle: () => session.close(),
    });
    socket.on('data', () => this.#keepalive.heard());
  }

  get isOver(): boolean {
    return !this.#session.isOpen;
  }

  hasRoom(isLong: boolean): boolean {
    const { isOpen, load, concurrentMax } = this.#session;
    if (!isOpen || load >= concurrentMax) return false;
    return !isLong || this.#longs < Math.max(1, Math.floor(concurrentMax * longShare));
  }

  begin({ method, target, headers, body, upload, isLong }: Outbound, exchange: Exchange): void {
    let block = this.#encoded.get(':method', method) + this.#authority + encodedPseudoField(':path', target);
    block += this.#encoded.all(headers);
    if (body) block += encodedField('content-length', String(body.length));
    let isAnswered = false;
    const events: StreamEvents = {
      isPaced: true,
      onHead: (fields) => {
        const status = isAnswered ? 0 : statusOf(fields);
        // Trailers, or an informational head.
        if (isAnswered || (status >= 100 && status < 200)) return;
        isAnswered = true;
        if (status === 0) return stream.reset(errorCode.protocol);
        exchange.head(status, (name) => valuesOf(fields, name));
      },
      onData: (chunk) => exchange.data(chunk),
      onSent: () => onSent?.(),
      onEnd: (end) => {
        sending?.stop();
        if (isLong) this.#longs--;
        if (this.#session.load === 0) this.#socket.unref?.();
        if (end.isWhole) exchange.end();
        else exchange.fail(errorOf(end, isAnswered));
        this.#options.onRoom();
      },
    };
    let onSent: (() => void) | undefined;
    const sending =
      upload &&
      new Upload(upload, {
        write: (chunk, onWritten) => {
          onSent = onWritten;
          stream.write(chunk);
        },
        end: () => stream.end(nothing),
        fail: (error) => {
          exchange.fail(error);
          stream.reset();
        },
      });
    const isBodiless = body === undefined && upload === undefined;
    const stream: ClientStream = this.#session.request(block, events, isBodiless);
    if (isLong) this.#longs++;
    this.#keepalive.used();
    if (this.#session.load === 1) this.#socket.ref?.();
    const isWanted = exchange.begin({ cancel: () => stream.reset(), consumed: (bytes) => stream.consumed(bytes) });
    if (!isWanted) stream.reset();
    else if (sending) sending.start();
    else if (body) stream.end(body);
  }

  retire(): void {
    this.#session.close();
  }

  destroy(error: Error): void {
    this.#session.destroy(error);
  }

  /** Called when the session closed. */
  closed(): void {
    this.#keepalive.stop();
    this.#options.onClosed(this);
  }
}

/** Caches encoded header fields: most requests share them, and only differences are encoded again. */
class EncodedFields {
  readonly #known = new Map<string, { readonly value: string; readonly text: string }>();

  get(name: string, value: string): string {
    const known = this.#known.get(name);
    if (known?.value === value) return known.text;
    const text = name === ':method' ? encodedPseudoField(name, value) : encodedField(name, value);
    this.#known.set(name, { value, text });
    return text;
  }

  all(headers: Headers): string {
    let text = '';
    for (const [name, value] of headers) text += this.get(name, value);
    return text;
  }
}

const nothing = new Uint8Array();

function statusOf(fields: readonly Field[]): number {
  const text = fields.find(({ name }) => name === ':status')?.value ?? '';
  return /^[1-9]\d\d$/.test(text) ? Number(text) : 0;
}

function valuesOf(fields: readonly Field[], wanted: string): string | undefined {
  let all: string | undefined;
  for (const { name, value } of fields) if (name === wanted) all = all === undefined ? value : `${all}, ${value}`;
  return all;
}

function errorOf({ isUnsent, error, code }: StreamEnd, isAnswered: boolean): ClientError {
  const reason = error?.message ?? (code === errorCode.none ? 'the connection was closed' : `HTTP/2 code ${code}`);
  if (isUnsent && !isAnswered) return new BrokenOff(true, reason, { cause: error });
  return new ClientError('ConnectionLost', reason, { cause: error });
}
