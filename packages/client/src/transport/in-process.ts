/**
 * Calls a server in the same process without a socket. The handler has the shape of the handlers of `@hangar/server`; the types are
 * repeated here, so that the client does not depend on the server.
 */

import { Readable } from 'node:stream';
import { asError, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { HttpAnswer, HttpRequest, HttpTransport } from './contract.ts';
import { Exchange } from './exchange.ts';

/** The client as the server sees it: its address and its verified client certificate. */
export interface InProcessPeer {
  readonly address: string;
  readonly certificate:
    | { readonly commonName: string; readonly organizations: readonly string[]; readonly expiresAt: number }
    | undefined;
}

/** A request as the handler receives it. */
export interface InProcessRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: InProcessPeer;
  header(name: string): string | undefined;
  headerValues(name: string): readonly string[];
  headerNames(): readonly string[];
  body(bytesMax: number): Promise<Uint8Array>;
  /** The body as a stream, if it was sent as one. */
  readonly passing?: { readonly body: Readable };
}

/** Receives the body of a streamed response. */
export interface InProcessSink {
  write(chunk: Uint8Array): boolean;
  end(): void;
  abort(): void;
  onDrain(callback: () => void): void;
  onClose(callback: () => void): void;
}

/** The response of a handler: a complete body, or a body that is streamed into a sink. */
export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | readonly Uint8Array[] | { start(sink: InProcessSink): void };
}

/** Serves one request. */
export type InProcessHandler = (request: InProcessRequest) => Promise<InProcessAnswer>;

/** Options of `InProcessTransport`. */
export interface InProcessOptions {
  readonly handler: InProcessHandler;
  /** Identity of the client by certificate. Absent: anonymous, unless the headers authenticate the client. */
  readonly peer?: InProcessPeer;
  /** Clock for timeouts. Absent: the system clock. */
  readonly clock?: Clock;
}

const anonymous: InProcessPeer = { address: '127.0.0.1', certificate: undefined };
const nothing = new Uint8Array();

/** A transport that calls a handler in the same process. */
export class InProcessTransport implements HttpTransport {
  readonly host = 'in-process';
  readonly #handler: InProcessHandler;
  readonly #peer: InProcessPeer;
  readonly #clock: Clock;
  readonly #open = new Set<Sink>();
  #isClosed = false;

  constructor({ handler, peer = anonymous, clock = systemClock }: InProcessOptions) {
    this.#handler = handler;
    this.#peer = peer;
    this.#clock = clock;
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    if (this.#isClosed) throw new ClientError('ConnectionFailed', 'the client is closed');
    const sink = new Sink(new Exchange(request, this.#clock), () => this.#open.delete(sink));
    if (sink.isOpen) {
      this.#open.add(sink);
      void this.#handle(request, sink);
    }
    return sink.exchange.answered;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const sink of this.#open) sink.abort();
    return Promise.resolve();
  }

  async #handle({ method, target, headers = {}, body = nothing, upload }: HttpRequest, sink: Sink): Promise<void> {
    const stream = upload && Readable.from(upload, { objectMode: false });
    stream?.on('error', (error) => sink.fail(error));
    sink.onClose(() => stream?.destroy());
    try {
      const answer = await this.#handler({
        method,
        target,
        peer: this.#peer,
        header: (name) => headers[name],
        headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]),
        headerNames: () => Object.keys(headers),
        body: async () => (stream ? Buffer.concat(await stream.toArray()) : body),
        ...(stream && { passing: { body: stream } }),
      });
      sink.answer(answer);
    } catch (error) {
      sink.fail(asError(error));
    }
  }
}

const waitingBytesMax = 1024 * 1024;

/** A bounded buffer between a server that writes and a client that reads, with back-pressure. */
class Sink implements InProcessSink {
  readonly exchange: Exchange;
  readonly isOpen: boolean;
  readonly #onClose: (() => void)[];
  #onDrain: (() => void) | undefined;
  #unreadBytes = 0;
  #isClosed = false;

  constructor(exchange: Exchange, onClose: () => void) {
    this.exchange = exchange;
    this.#onClose = [onClose];
    this.isOpen = exchange.begin({ cancel: () => this.#close(), consumed: (bytes) => this.#consumed(bytes) });
  }

  answer({ status, headers, body }: InProcessAnswer): void {
    this.exchange.head(status, (name) => {
      const value = headers[name];
      return typeof value === 'string' || value === undefined ? value : value.join(', ');
    });
    if ('start' in body) return body.start(this);
    for (const chunk of body instanceof Uint8Array ? [body] : body) this.exchange.data(chunk);
    this.end();
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isClosed) return false;
    this.#unreadBytes += chunk.length;
    this.exchange.data(chunk);
    return this.#unreadBytes < waitingBytesMax;
  }

  end(): void {
    this.exchange.end();
    this.#close();
  }

  abort(): void {
    this.fail(new ClientError('ConnectionLost', 'the server aborted the response'));
  }

  fail(error: Error): void {
    this.exchange.fail(error);
    this.#close();
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    if (this.#isClosed) callback();
    else this.#onClose.push(callback);
  }

  #consumed(bytes: number): void {
    const wasFull = this.#unreadBytes >= waitingBytesMax;
    this.#unreadBytes -= bytes;
    if (wasFull && this.#unreadBytes < waitingBytesMax) this.#onDrain?.();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const callback of this.#onClose.splice(0)) callback();
  }
}
