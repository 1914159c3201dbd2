/**
 * HTTP/1.1 over a pool of persistent connections, with one request at a time on each. Long-running requests have separate connections:
 * watches never block other requests.
 */

import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { asError } from '@hangar/core';
import { ClientError } from '../errors.ts';
import { BrokenOff } from './connection.ts';
import type { Connection, ConnectionEvents, Outbound } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { Upload } from './upload.ts';
import type { UploadTarget } from './upload.ts';

export interface Http1Options extends ConnectionEvents {
  readonly authority: string;
  readonly dial: () => Promise<Duplex>;
  /** Maximum without those of long-running requests. */
  readonly connectionsMax: number;
  readonly idleMs: number;
}

export class Http1Connection implements Connection {
  readonly isWhole = true;
  readonly #options: Http1Options;
  readonly #agent: DialingAgent;
  readonly #underWay = new Map<ClientRequest, Exchange>();
  #longs = 0;
  #isOver = false;

  constructor(options: Http1Options) {
    this.#options = options;
    this.#agent = new DialingAgent(options);
  }

  /** Adds the connection of the protocol negotiation, for the first request. */
  add(socket: Duplex): void {
    this.#agent.spare(socket);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  hasRoom(isLong: boolean): boolean {
    return !this.#isOver && (isLong || this.#underWay.size - this.#longs < this.#options.connectionsMax);
  }

  begin({ method, target, headers, body, upload, isLong }: Outbound, exchange: Exchange): void {
    const fields: string[] = ['host', this.#options.authority];
    for (const [name, value] of headers) fields.push(name, value);
    if (upload) fields.push('transfer-encoding', 'chunked');
    else if (body || method !== 'GET') fields.push('content-length', String(body?.length ?? 0));
    const request = httpRequest({
      agent: this.#agent,
      method,
      path: target,
      headers: fields,
      setHost: false,
    });
    this.#underWay.set(request, exchange);
    if (isLong) this.#longs++;
    let answer: IncomingMessage | undefined;
    request.on('response', (incoming) => {
      answer = incoming;
      receive(incoming, exchange);
    });
    request.on('error', (error) => exchange.fail(errorOf(error, request, answer)));
    const sending = upload && new Upload(upload, uploadTarget(request, exchange));
    request.on('close', () => {
      sending?.stop();
      this.#underWay.delete(request);
      if (isLong) this.#longs--;
      // A complete response may not be read to the end yet.
      if (!exchange.isOver && !answer?.complete) {
        exchange.fail(new ClientError('ConnectionLost', 'the connection was closed before the response was complete'));
      }
      if (this.#isOver && this.#underWay.size === 0) this.#close();
      // The connection is released right after this.
      process.nextTick(this.#options.onRoom);
    });
    const isWanted = exchange.begin({
      cancel: () => request.destroy(),
      consumed: (bytes) => answer && consumed(answer, bytes),
    });
    if (!isWanted) request.destroy();
    else if (sending) sending.start();
    else request.end(body);
  }

  retire(): void {
    this.#isOver = true;
    if (this.#underWay.size === 0) this.#close();
  }

  destroy(error: Error): void {
    this.#isOver = true;
    for (const [request, exchange] of this.#underWay) {
      exchange.fail(new ClientError('ConnectionLost', error.message, { cause: error }));
      request.destroy();
    }
    this.#close();
  }

  #close(): void {
    this.#agent.destroy();
    this.#options.onClosed(this);
  }
}

function uploadTarget(request: ClientRequest, exchange: Exchange): UploadTarget {
  return {
    write: (chunk, onWritten) => {
      if (request.write(chunk)) onWritten();
      else request.once('drain', onWritten);
    },
    end: () => void request.end(),
    fail: (error) => {
      exchange.fail(error);
      request.destroy();
    },
  };
}

/** An agent with externally opened connections. */
class DialingAgent extends Agent {
  readonly #dial: () => Promise<Duplex>;
  readonly #spare: Duplex[] = [];

  constructor({ dial, connectionsMax, idleMs }: Http1Options) {
    super({
      keepAlive: true,
      keepAliveMsecs: 30_000,
      maxFreeSockets: connectionsMax,
      scheduling: 'lifo',
      timeout: idleMs,
    });
    this.#dial = dial;
  }

  spare(socket: Duplex): void {
    const forget = (): void => {
      socket.off('close', forget).off('error', forget);
      const at = this.#spare.indexOf(socket);
      if (at !== -1) this.#spare.splice(at, 1);
    };
    socket.on('close', forget).on('error', forget);
    this.#spare.push(socket);
  }

  override createConnection(_options: object, onMade: (error: Error | null, socket?: Duplex) => void): undefined {
    const spare = this.#spare.shift();
    if (spare && !spare.destroyed) return void process.nextTick(onMade, null, spare);
    this.#dial().then(
      (socket) => onMade(null, socket),
      (error: unknown) => onMade(asError(error)),
    );
  }

  override destroy(): void {
    for (const socket of this.#spare.splice(0)) socket.destroy();
    super.destroy();
  }
}

/** Maximum unread data of one response. */
const unreadBytesMax = 1024 * 1024;
const unread = new WeakMap<IncomingMessage, number>();

function receive(incoming: IncomingMessage, exchange: Exchange): void {
  const { headers } = incoming;
  exchange.head(incoming.statusCode ?? 0, (name) => {
    const value = headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  });
  unread.set(incoming, 0);
  incoming.on('data', (chunk: Buffer) => {
    const bytes = unread.get(incoming)! + chunk.length;
    unread.set(incoming, bytes);
    if (bytes >= unreadBytesMax) incoming.pause();
    exchange.data(chunk);
  });
  // The connection is available for the next request one tick later.
  incoming.on('end', () => {
    if (incoming.complete) process.nextTick(() => exchange.end());
  });
  incoming.on('error', (cause) => {
    exchange.fail(
      new ClientError('ConnectionLost', `the connection was lost during the request: ${cause.message}`, { cause }),
    );
  });
}

function consumed(incoming: IncomingMessage, bytes: number): void {
  const left = unread.get(incoming)! - bytes;
  unread.set(incoming, left);
  if (left < unreadBytesMax && incoming.isPaused()) incoming.resume();
}

function errorOf(cause: Error & { code?: string }, request: ClientRequest, answer: IncomingMessage | undefined): Error {
  // It was never connected: the error of the dial has the reason.
  if (cause instanceof ClientError || request.socket === null) return cause;
  if (cause.code?.startsWith('HPE_')) {
    return new ClientError('MalformedAnswer', `the server does not speak HTTP/1.1: ${cause.message}`, { cause });
  }
  const message = `the connection was lost during the request: ${cause.message}`;
  // Most likely a keep-alive connection that the server closed.
  if (request.reusedSocket && answer === undefined) return new BrokenOff(false, message, { cause });
  return new ClientError('ConnectionLost', message, { cause });
}
