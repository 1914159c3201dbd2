/**
 * One TLS connection to an API server with one request in flight at a time, over HTTP/1.1 or HTTP/2. Minimal, because the load generator
 * shares the machine with the measured server: answers are counted, not parsed.
 */

import { once } from 'node:events';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { Http1 } from './http1.ts';
import { Http2 } from './http2.ts';

export type Protocol = 'http/1.1' | 'h2';

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

export interface ConnectionOptions {
  readonly port: number;
  readonly token: string;
  readonly protocol: Protocol;
}

/** Encodes and decodes a protocol on a socket. */
export interface Codec {
  /** Returns the bytes of a request. `id` counts up from 0. */
  encode(id: number, method: string, path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer[];
  /** Feeds received bytes; calls back with whole replies, or with each piece of a stream's body. */
  feed(bytes: Buffer): void;
  onReply: (reply: Reply) => void;
  /** Set for watches: receives the pieces of the body. */
  onPiece: ((piece: Buffer) => void) | undefined;
  /** Called with frames of the protocol itself: settings, window updates. */
  onAnswer: (bytes: Buffer) => void;
}

export class Connection {
  readonly #socket: TLSSocket;
  readonly #codec: Codec;
  readonly #headers: Readonly<Record<string, string>>;
  #id = 0;
  #waiting: ((reply: Reply) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: TLSSocket, codec: Codec, token: string) {
    this.#socket = socket;
    this.#codec = codec;
    this.#headers = { authorization: `Bearer ${token}` };
    codec.onReply = (reply) => this.#waiting!(reply);
    codec.onAnswer = (bytes) => socket.write(bytes);
    socket.on('data', (bytes: Buffer) => codec.feed(bytes));
    const fail = (): void => this.#failed?.(new Error('the connection ended'));
    socket.on('close', fail);
    socket.on('error', fail);
  }

  static async open({ port, token, protocol }: ConnectionOptions): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [protocol] });
    await once(socket, 'secureConnect');
    socket.setNoDelay(true);
    const codec = protocol === 'h2' ? new Http2(port) : new Http1(port);
    const connection = new Connection(socket, codec, token);
    if (codec instanceof Http2) socket.write(codec.preface());
    return connection;
  }

  request(
    method: string,
    path: string,
    { body = Buffer.alloc(0), contentType = 'application/json' }: { body?: Buffer; contentType?: string } = {},
  ): Promise<Reply> {
    const headers = body.length > 0 ? { ...this.#headers, 'content-type': contentType } : this.#headers;
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      this.#failed = reject;
      const pieces = this.#codec.encode(this.#id++, method, path, headers, body);
      this.#socket.write(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    });
  }

  /** Sends a request with an endless answer: calls back with every piece of it. */
  stream(path: string, onPiece: (piece: Buffer) => void): void {
    this.#codec.onPiece = onPiece;
    for (const piece of this.#codec.encode(this.#id++, 'GET', path, this.#headers, Buffer.alloc(0)))
      this.#socket.write(piece);
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }
}
