/**
 * The HTTP server of a manager for probes and Prometheus: GET only, without TLS, on localhost by default. Use an authenticating proxy
 * (kube-rbac-proxy) to expose it with access control.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asError } from '@hangar/core';
import type { Logger } from '@hangar/core';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `rest`: the path after that of the route, without a leading slash. */
export type Route = (rest: string, query: URLSearchParams) => Reply | Promise<Reply>;

const plain = { 'content-type': 'text/plain; charset=utf-8' };
const connectionsMax = 100;
/** Prevents that slow clients hold a connection. */
const timeouts = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 30_000 };

export class HttpServer {
  readonly #routes = new Map<string, Route>();
  readonly #log: Logger | undefined;
  #server: Server | undefined;

  constructor(log: Logger | undefined) {
    this.#log = log;
  }

  /** `/metrics`, and all paths below it. */
  route(path: string, route: Route): void {
    this.#routes.set(path, route);
  }

  /** Rejects when the address is not available. */
  async listen(host: string, port: number): Promise<void> {
    const server = createServer(timeouts, (request, response) => void this.#serve(request, response));
    server.maxConnections = connectionsMax;
    server.on('clientError', (_error, socket) => socket.destroy());
    server.listen({ host, port });
    await once(server, 'listening');
    this.#server = server;
  }

  /** Port of the server; 0 when it does not listen. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port ?? 0;
  }

  /** Closes all connections at once: probes and scrapers retry. */
  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** Serves a request without a socket. Never rejects. */
  async answer(method: string, target: string): Promise<Reply> {
    if (method !== 'GET' && method !== 'HEAD')
      return { status: 405, headers: { ...plain, allow: 'GET, HEAD' }, body: '' };
    const at = target.indexOf('?');
    const path = at === -1 ? target : target.slice(0, at);
    const query = new URLSearchParams(at === -1 ? '' : target.slice(at + 1));
    for (const [prefix, route] of this.#routes) {
      if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
      try {
        return await route(path.slice(prefix.length + 1), query);
      } catch (error) {
        this.#log?.error('failed to handle a request', { target, error: asError(error) });
        return { status: 500, headers: plain, body: 'internal server error\n' };
      }
    }
    return { status: 404, headers: plain, body: '404 page not found\n' };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const { method = '', url = '/' } = request;
    const { status, headers, body } = await this.answer(method, url);
    if (response.destroyed) return;
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(method === 'HEAD' ? undefined : body);
  }
}
