/** The health and metrics endpoints of a manager: `/healthz`, `/livez`, `/readyz`, `/metrics`, on one address or two. */

import type { Clock, Logger } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { Health } from './health.ts';
import { HttpServer } from './http-server.ts';
import type { Reply } from './http-server.ts';
import type { ListenOptions } from './manager-options.ts';

export interface EndpointsOptions {
  readonly metrics: ListenOptions | false | undefined;
  readonly health: ListenOptions | false | undefined;
  readonly registry: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Listening {
  readonly host: string;
  readonly port: number;
  readonly server: HttpServer;
}

const defaults = { host: '127.0.0.1', port: 8080 };
const checkTimeoutMs = 5_000;
const metricsType = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

export class Endpoints {
  readonly healthz: Health;
  readonly readyz: Health;
  readonly #servers: readonly Listening[];
  readonly #all: HttpServer;

  constructor({ metrics = {}, health = metrics === false ? {} : metrics, registry, clock, log }: EndpointsOptions) {
    const options = { clock, log, timeoutMs: checkTimeoutMs };
    this.healthz = new Health({ ...options, name: 'healthz' });
    this.readyz = new Health({ ...options, name: 'readyz' });
    const servers: Listening[] = [];
    const serverOf = ({ host = defaults.host, port = defaults.port }: ListenOptions): HttpServer => {
      const known = servers.find((one) => one.host === host && one.port === port);
      const server = known?.server ?? new HttpServer(log);
      if (!known) servers.push({ host, port, server });
      return server;
    };
    this.#all = new HttpServer(log);
    const exposition = (): Reply => ({ status: 200, headers: metricsType, body: registry.text() });
    for (const server of [this.#all, metrics && serverOf(metrics)]) {
      if (server) server.route('/metrics', exposition);
    }
    for (const server of [this.#all, health && serverOf(health)]) {
      if (!server) continue;
      server.route('/healthz', (rest, query) => this.healthz.answer(rest, query));
      server.route('/livez', (rest, query) => this.healthz.answer(rest, query));
      server.route('/readyz', (rest, query) => this.readyz.answer(rest, query));
    }
    this.#servers = servers;
  }

  /** Rejects when an address is not available; `close` closes the other. */
  async listen(): Promise<void> {
    for (const { host, port, server } of this.#servers) await server.listen(host, port);
  }

  /** Ports of the endpoints: metrics first, if they are separate. */
  get ports(): number[] {
    return this.#servers.map(({ server }) => server.port);
  }

  /** Serves a request without a socket. */
  answer(target: string): Promise<Reply> {
    return this.#all.answer('GET', target);
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map(({ server }) => server.close()));
  }
}
