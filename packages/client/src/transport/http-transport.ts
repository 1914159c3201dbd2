/**
 * A cluster over sockets: HTTP/2 where the server speaks it, else HTTP/1.1. Says who asks, comes again once with new credentials after
 * a 401, and sends again what a server that goes away has certainly not begun with.
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

export interface HttpTransportOptions {
  readonly clock?: Clock | undefined;
  readonly transport?: Transport | undefined;
  /** What to offer, best first. Absent: HTTP/2, then HTTP/1.1. */
  readonly protocols?: readonly Protocol[] | undefined;
  /** Until the server can be asked. Absent: 30 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** HTTP/2: nothing heard for so long, the server is pinged. Absent: 30 s. */
  readonly readIdleMs?: number | undefined;
  /** A ping without answer for so long is the end of a connection. Absent: 15 s. */
  readonly pingTimeoutMs?: number | undefined;
  /** A connection that nobody uses is closed. Absent: 90 s. */
  readonly idleMs?: number | undefined;
  /** Absent: 100. Each takes as many requests as the server allows, mostly 100 or more. */
  readonly http2ConnectionsMax?: number | undefined;
  /** Absent: 64. Watches are not counted. */
  readonly http1ConnectionsMax?: number | undefined;
  /** Where `HTTPS_PROXY` and `NO_PROXY` are. Absent: the process'. */
  readonly environment?: Environment | undefined;
}

/** Throws `InvalidKubeconfig`. Nothing is connected before the first request. */
export function httpTransport(config: ClusterConfig, options: HttpTransportOptions = {}): HttpTransport {
  return new SocketTransport(config, options);
}

/** How often a request is sent again because the server certainly had not begun with it. */
const resendsMax = 5;

class SocketTransport implements HttpTransport {
  readonly host: string;
  readonly #prefix: string;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #credentials: Credentials | undefined;
  readonly #impersonation: Headers;
  readonly #isCompressed: boolean;
  /** How often they were renewed: who was refused with older ones needs only to ask again. */
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
    if (answer.status !== 401 || !this.#credentials?.refresh) return decoded(answer);
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
        if (resends >= resendsMax || !mayResend(error, request.method)) throw error;
      }
    }
  }

  #outbound({ method, target, headers, body, isLong = false }: HttpRequest, own: object | undefined): Outbound {
    const all: [string, string][] = [];
    for (const name in headers) all.push([name, headers[name]!]);
    for (const [name, value] of Object.entries(own ?? {})) all.push([name, value as string]);
    for (const [name, value] of this.#impersonation) all.push([name, value]);
    // A watch is told as it happens, and what is written is short.
    if (this.#isCompressed && method === 'GET' && !isLong && !headers?.['accept-encoding']) all.push(acceptGzip);
    return { method, target: this.#prefix + target, headers: all, body, isLong };
  }

  /** Whether asking again is worth it. Those who are refused together renew together. */
  async #renewed(since: number): Promise<boolean> {
    if (since !== this.#renewals) return true;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(): Promise<boolean> {
    const isBetter = await this.#credentials!.refresh!();
    if (!isBetter) return false;
    this.#renewals++;
    // A client certificate is shown when a connection is made.
    if (this.#credentials!.clientCertificate) this.#pool.retire();
    return true;
  }
}

const acceptGzip: [string, string] = ['accept-encoding', 'gzip'];

/** Only where a connection was there: who cannot connect is told so. */
const mayResend = (error: unknown, method: string): boolean =>
  error instanceof BrokenOff && (error.isUnsent || method === 'GET' || method === 'HEAD');

/** An answer whose body was read. */
const readAlready = (answer: Exchange, body: Buffer): HttpAnswer & Pick<Exchange, 'bodyBytesMax'> => ({
  status: answer.status,
  bodyBytesMax: answer.bodyBytesMax,
  header: (name) => answer.header(name),
  body: () => Promise.resolve(body),
  async *stream() {
    yield body;
  },
});
