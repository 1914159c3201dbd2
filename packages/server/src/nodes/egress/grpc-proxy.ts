/**
 * Opens connections through a konnectivity-server in mode `grpc` over a Unix socket. Each connection has its own HTTP/2 connection with one
 * call of `ProxyService/Proxy`, as in kube-apiserver. It uses Node's HTTP/2 client, whose streams have back-pressure in both directions.
 */

import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@hangar/core';
import { MessageAssembler } from '@hangar/http2/grpc';
import { OutboundError, outboundError } from '../../outbound/errors.ts';
import { addressOf } from '../dialer.ts';
import type { DialTarget, NodeDialer } from '../dialer.ts';
import { TunnelConnection } from '../tunnel/connection.ts';
import type { ConnectionHost } from '../tunnel/connection.ts';
import { closeRequest, dataPacket, decodePacket, dialRequest, packetType } from '../tunnel/packets.ts';
import type { Packet } from '../tunnel/packets.ts';

/** Loaded with the first connection. */
const http2 = () => process.getBuiltinModule('node:http2');

const timeoutMs = 15_000;
const dataBytesMax = 32 * 1024;
/** Bytes that a connection may hold for its reader. */
const heldBytesMax = 256 * 1024;
const packetBytesMax = 4 * 1024 * 1024;
/** Identifies the only dial of the call. */
const dialId = 1;

export interface GrpcProxyOptions {
  /** Path of the Unix socket. */
  readonly socket: string;
  readonly clock: Clock;
}

export class GrpcProxyDialer implements NodeDialer {
  readonly #options: GrpcProxyOptions;

  constructor(options: GrpcProxyOptions) {
    this.#options = options;
  }

  async dial(target: DialTarget): Promise<Duplex> {
    const { socket, clock } = this.#options;
    const { signal } = target;
    if (signal?.aborted) throw new OutboundError('Aborted', 'context canceled');
    const call = new ProxyCall(socket, addressOf(target));
    const timer = clock.after(timeoutMs, () => call.fail(new OutboundError('Timeout', 'context deadline exceeded')));
    const onAbort = (): void => call.fail(new OutboundError('Aborted', 'context canceled'));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await call.dialed;
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** One call, with one connection. */
class ProxyCall implements ConnectionHost {
  readonly dialed: Promise<TunnelConnection>;
  readonly #address: string;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #assembler = new MessageAssembler(packetBytesMax);
  readonly #settle = Promise.withResolvers<TunnelConnection>();
  #connection: TunnelConnection | undefined;

  constructor(socketPath: string, address: string) {
    this.#address = address;
    this.dialed = this.#settle.promise;
    const socket = connectSocket(socketPath);
    const failed = (error: unknown): void => this.fail(outboundError(error));
    this.#session = http2().connect('http://localhost', { createConnection: () => socket });
    this.#session.on('error', failed);
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': '/ProxyService/Proxy',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    this.#stream.on('error', failed);
    this.#stream.on('close', () =>
      this.fail(new OutboundError('Unreachable', `${address}: the proxy closed the connection`)),
    );
    this.#stream.on('data', (chunk: Buffer) => this.#feed(chunk));
    this.#stream.write(dialRequest(address, dialId));
  }

  /** Ends the call. A connection that the target has closed keeps the bytes that were received before. */
  fail(error: OutboundError): void {
    this.#settle.reject(error);
    this.#connection?.destroy(error);
    this.#end();
  }

  #end(): void {
    this.#stream.close();
    this.#session.destroy();
  }

  #feed(chunk: Buffer): void {
    try {
      this.#assembler.push(chunk, (message) => this.#handle(decodePacket(message)));
    } catch (error) {
      this.fail(outboundError(error));
    }
  }

  #handle({ type, connectId, error, data }: Packet): void {
    const connection = this.#connection;
    if (type === packetType.dialResponse && !connection) {
      if (error !== '') return this.fail(new OutboundError('Unreachable', error));
      this.#connection = new TunnelConnection(connectId, this.#address, this);
      this.#settle.resolve(this.#connection);
    } else if (type === packetType.dialClose && !connection) {
      this.fail(new OutboundError('Unreachable', `dial tcp ${this.#address}: the proxy closed the dial`));
    } else if (!connection || connectId !== connection.id) {
      // The call has one connection.
      return;
    } else if (type === packetType.data) {
      if (data.length > 0) connection.receive(Buffer.from(data));
      if (connection.heldBytes > heldBytesMax) this.#stream.pause();
    } else if (type === packetType.closeResponse) {
      this.#connection = undefined;
      connection.remoteClosed(error);
      this.#end();
    }
  }

  send(connection: TunnelConnection, data: Uint8Array, done: () => void): void {
    let at = 0;
    const more = (): void => {
      while (at < data.length) {
        if (this.#stream.destroyed || connection.destroyed) break;
        const packet = dataPacket(connection.id, data.subarray(at, at + dataBytesMax));
        at += dataBytesMax;
        if (!this.#stream.write(packet)) {
          this.#stream.once('drain', at < data.length ? more : done);
          return;
        }
      }
      done();
    };
    more();
  }

  taken(connection: TunnelConnection): void {
    if (connection.heldBytes <= heldBytesMax / 2) this.#stream.resume();
  }

  closing(connection: TunnelConnection): void {
    this.#stream.write(closeRequest(connection.id));
  }

  closed(connection: TunnelConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (!this.#stream.destroyed) this.#stream.end(closeRequest(connection.id), () => this.#end());
  }
}
