/** Opens connections through a konnectivity-server in mode `http-connect`: `CONNECT host:port` over TLS, TCP or a Unix socket. */

import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '@hangar/core';
import { tlsOptions, untilReady } from '../../outbound/connector.ts';
import { OutboundError } from '../../outbound/errors.ts';
import type { TlsIdentity } from '../../outbound/index.ts';
import type { DialTarget, NodeDialer } from '../dialer.ts';
import { addressOf } from '../dialer.ts';

/** The address of the proxy. */
export type ProxyAddress =
  | { readonly socket: string }
  | { readonly host: string; readonly port: number; readonly tls: TlsIdentity | undefined };

export interface HttpConnectOptions {
  readonly proxy: ProxyAddress;
  readonly clock: Clock;
}

/** The proxy dials for up to 5 seconds. */
const timeoutMs = 15_000;
const headBytesMax = 16 * 1024;
/** Bytes of a refusal that are part of the error. */
const bodyBytesMax = 512;

export class HttpConnectDialer implements NodeDialer {
  readonly #options: HttpConnectOptions;

  constructor(options: HttpConnectOptions) {
    this.#options = options;
  }

  dial(target: DialTarget): Promise<Socket> {
    const { clock, proxy } = this.#options;
    const { signal } = target;
    const begin = (socket: Socket, done: () => void, fail: (error: unknown) => void): void =>
      new Attempt(socket, proxyName(proxy), addressOf(target)).run(() => {
        socket.on('error', () => socket.destroy());
        done();
      }, fail);
    return untilReady(() => opened(proxy), begin, { clock, timeoutMs, signal });
  }
}

/** The exchange of one CONNECT request on a new connection. */
class Attempt {
  readonly #socket: Socket;
  readonly #proxy: string;
  readonly #address: string;
  #received = Buffer.alloc(0);

  constructor(socket: Socket, proxy: string, address: string) {
    this.#socket = socket;
    this.#proxy = proxy;
    this.#address = address;
  }

  run(done: () => void, fail: (error: Error) => void): void {
    const socket = this.#socket;
    // Sent when the connection is open.
    socket.write(`CONNECT ${this.#address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const settle = (isEnded: boolean): void => {
      const outcome = this.#outcome(isEnded);
      if (outcome === 'pending') return;
      socket.off('readable', onReadable);
      socket.off('end', onEnd);
      if (outcome instanceof Error) fail(outcome);
      else done();
    };
    const onEnd = (): void => settle(true);
    const onReadable = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk) this.#received = Buffer.concat([this.#received, chunk]);
      settle(false);
    };
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
  }

  /** Undefined: the connection is open. The body of a refusal says why; it ends with the connection. */
  #outcome(isEnded: boolean): OutboundError | 'pending' | undefined {
    const received = this.#received;
    const end = received.indexOf('\r\n\r\n');
    if (end === -1) {
      if (received.length > headBytesMax) return this.#failed('the response is too long');
      return isEnded ? this.#failed('unexpected EOF') : 'pending';
    }
    const [, code, reason] = /^HTTP\/1\.[01] (\d{3}) ?([^\r]*)/.exec(received.toString('latin1', 0, end)) ?? [];
    const body = received.subarray(end + 4);
    if (code === undefined) return this.#failed('malformed HTTP response');
    if (code !== '200') return isEnded || body.length > bodyBytesMax ? this.#refused(code, reason!, body) : 'pending';
    // Targets may speak first.
    if (body.length > 0) this.#socket.unshift(body);
    return undefined;
  }

  #refused(code: string, reason: string, body: Buffer): OutboundError {
    const text = `proxy error from ${this.#proxy} while dialing ${this.#address}, code ${code}: ${code} ${reason}`;
    const why = body
      .toString('utf8', 0, bodyBytesMax)
      .replaceAll(/[^\x20-\x7e]+/g, ' ')
      .trim();
    return new OutboundError('Unreachable', why === '' ? text : `${text}: ${why}`);
  }

  #failed(why: string): OutboundError {
    const where = `CONNECT to ${this.#address} via proxy ${this.#proxy}`;
    return new OutboundError('Unreachable', `reading HTTP response from ${where} failed: ${why}`);
  }
}

const proxyName = (proxy: ProxyAddress): string => ('socket' in proxy ? proxy.socket : `${proxy.host}:${proxy.port}`);

function opened(proxy: ProxyAddress): Socket {
  if ('socket' in proxy) return connectTcp(proxy.socket);
  const { host, port, tls } = proxy;
  if (!tls) return connectTcp({ host, port, noDelay: true });
  const socket = connectTls({ ...tlsOptions({ ...tls, host, port }), host, port, ALPNProtocols: ['http/1.1'] });
  socket.setNoDelay(true);
  return socket;
}
