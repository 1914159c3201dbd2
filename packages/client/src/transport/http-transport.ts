/**
 * Connects to a cluster over sockets: HTTP/2 if the server supports it, otherwise HTTP/1.1. Adds the credentials, retries once with
 * refreshed credentials after status 401, and resends requests that a closing server certainly did not start to process.
 */

import { orAborted, systemClock, systemTransport } from '@hangar/core';
import type { Clock, Transport } from '@hangar/core';
import type { ClusterConfig, Credentials } from '../config/cluster-config.ts';
import { BrokenOff } from './connection.ts';
import type { Outbound } from './connection.ts';
import { decoded } from './content-encoding.ts';
import type { HttpAnswer, HttpRequest, HttpTransport } from './contract.ts';
import { Dialer } from './dial.ts';
import type { Protocol } from './dial.ts';
import { Exchange } from './exchange.ts';
import { impersonationHeaders } from './headers.ts';
import type { Headers } from './headers.ts';
import { Pool } from './pool.ts';
import { proxyFor } from './proxy.ts';
import type { Environment } from './proxy.ts';
import { serverAddress } from './server-address.ts';

/** Options of the connections of a client. All are optional. */
export interface HttpTransportOptions {
  /** Clock for timeouts. Absent: the system clock. */
  readonly clock?: Clock | undefined;
  /** Opens sockets. Absent: the network of the system. */
  readonly transport?: Transport | undefined;
  /** Protocols to offer, in order of preference. Absent: HTTP/2, then HTTP/1.1. */
  readonly protocols?: readonly Protocol[] | undefined;
  /** Maximum time to establish a connection. Absent: 30 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** HTTP/2: pings the server when nothing was received for this time. Absent: 30 s. */
  readonly readIdleMs?: number | undefined;
  /** Closes a connection when a ping has no response for this time. Absent: 15 s. */
  readonly pingTimeoutMs?: number | undefined;
  /** Closes a connection that is unused for this time. Absent: 90 s. */
  readonly idleMs?: number | undefined;
  /** Maximum number of HTTP/2 connections. Each carries as many requests as the server allows, usually 100 or more. Absent: 100. */
  readonly http2ConnectionsMax?: number | undefined;
  /** Maximum number of HTTP/1.1 connections, without watches. Absent: 64. */
  readonly http1ConnectionsMax?: number | undefined;
  /** Variables from which `HTTPS_PROXY` and `NO_PROXY` are read. Absent: the environment of the process. */
  readonly environment?: Environment | undefined;
}

/** Returns a transport for the cluster of a configuration. Throws `InvalidKubeconfig`. It connects with the first request. */
export function httpTransport(config: ClusterConfig, options: HttpTransportOptions = {}): HttpTransport {
  return new SocketTransport(config, options);
}

/** Maximum number of resends of a request that the server certainly did not start to process. */
const resendsMax = 5;

class SocketTransport implements HttpTransport {
  readonly host: string;
  readonly #prefix: string;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #credentials: Credentials | undefined;
  readonly #impersonation: Headers;
  readonly #isCompressed: boolean;
  /** Number of credential renewals: a request that was rejected with older credentials only needs a retry. */
  #renewals = 0;
  #renewing: Promise<boolean> | undefined;

  constructor(config: ClusterConfig, options: HttpTransportOptions) {
    const { clock = systemClock, transport = systemTransport, protocols = ['h2', 'http/1.1'] } = options;
    const { connectTimeoutMs = 30_000, environment = process.env } = options;
    const address = serverAddress(config.server);
    const proxy = proxyFor(address, config.proxyUrl, environment);
    this.host = address.authority;
    this.#prefix = address.prefix;
    this.#clock = clock;
    this.#credentials = config.credentials;
    this.#impersonation = impersonationHeaders(config.impersonate);
    this.#isCompressed = !config.disableCompression;
    this.#pool = new Pool({
      dialer: new Dialer({ config, address, proxy, protocols, connectTimeoutMs, transport, clock }),
      authority: address.authority,
      clock,
      http2ConnectionsMax: options.http2ConnectionsMax ?? 100,
      http1ConnectionsMax: options.http1ConnectionsMax ?? 64,
      readIdleMs: options.readIdleMs ?? 30_000,
      pingTimeoutMs: options.pingTimeoutMs ?? 15_000,
      idleMs: options.idleMs ?? 90_000,
    });
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const renewals = this.#renewals;
    const answer = await this.#send(request);
    if (answer.status !== 401 || !this.#credentials?.refresh || request.upload) return decoded(answer);
    const refusal = readAlready(answer, await answer.body());
    const isWorthIt = await orAborted(this.#renewed(renewals), request.signal);
    return decoded(isWorthIt ? await this.#send(request) : refusal);
  }

  close(): Promise<void> {
    this.#pool.close();
    return Promise.resolve();
  }

  async #send(request: HttpRequest): Promise<Exchange> {
    for (let resends = 0; ; resends++) {
      const given = this.#credentials?.headers(request.signal);
      const outbound = this.#outbound(request, given instanceof Promise ? await given : given);
      const exchange = new Exchange(request, this.#clock);
      this.#pool.send(outbound, exchange);
      try {
        await exchange.answered;
        return exchange;
      } catch (error) {
        if (resends >= resendsMax || request.upload || !mayResend(error, request.method)) throw error;
      }
    }
  }

  #outbound({ method, target, headers, body, upload, isLong = false }: HttpRequest, own?: object): Outbound {
    const all: [string, string][] = [];
    for (const name in headers) all.push([name, headers[name]!]);
    for (const [name, value] of Object.entries(own ?? {})) all.push([name, value as string]);
    for (const [name, value] of this.#impersonation) all.push([name, value]);
    // Watches are streamed, and write requests are short.
    if (this.#isCompressed && method === 'GET' && !isLong && !headers?.['accept-encoding']) all.push(acceptGzip);
    return { method, target: this.#prefix + target, headers: all, body, upload, isLong };
  }

  /** Reports whether a retry is useful. Concurrent rejections share one renewal. */
  async #renewed(since: number): Promise<boolean> {
    if (since !== this.#renewals) return true;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(): Promise<boolean> {
    const isBetter = await this.#credentials!.refresh!();
    if (!isBetter) return false;
    this.#renewals++;
    // A client certificate is sent when a connection is opened.
    if (this.#credentials!.clientCertificate) this.#pool.retire();
    return true;
  }
}

const acceptGzip: [string, string] = ['accept-encoding', 'gzip'];

/** Only for established connections: connection failures go to the caller. */
const mayResend = (error: unknown, method: string): boolean =>
  error instanceof BrokenOff && (error.isUnsent || method === 'GET' || method === 'HEAD');

/** A response whose body was read. */
const readAlready = (answer: Exchange, body: Buffer): HttpAnswer & Pick<Exchange, 'bodyBytesMax'> => ({
  status: answer.status,
  bodyBytesMax: answer.bodyBytesMax,
  header: (name) => answer.header(name),
  body: () => Promise.resolve(body),
  async *stream() {
    yield body;
  },
});
