/** Reused connections to one server, for requests over HTTP/1.1. Connections that leave HTTP are never shared. */

import type { ClientRequest, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { asError } from '@hangar/core';

/** Loaded with the first connection, not at startup. */
const http = () => process.getBuiltinModule('node:http');

export interface RemoteRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  /** Uses a dedicated connection that is not reused. */
  readonly isAlone?: boolean;
}

/** A server that requests are passed on to. */
export interface Upstream {
  /** Starts the request; the caller writes its body. Rejects if the server is unreachable. */
  begin(request: RemoteRequest): Promise<ClientRequest>;
}

export interface Target {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

const idleMs = 90_000;
const idleMax = 32;

export class ConnectionPool {
  readonly #agent: Agent;
  readonly #alone: Agent;

  /** `connect` opens a connection that is ready for requests. */
  constructor(connect: (target: Target) => Promise<Socket>) {
    const { Agent } = http();
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs });
    this.#alone = new Agent({ keepAlive: false });
    // Agents of node:http create plain connections. This replaces them with connections that use TLS and the outbound policy.
    for (const agent of [this.#agent, this.#alone]) {
      agent.createConnection = ((target: Target, done: Done) => void connected(connect, target, done)) as never;
    }
  }

  begin({ method, target, headers, isAlone }: RemoteRequest, { host, port }: Target): ClientRequest {
    const named = host.includes(':') ? `[${host}]` : host;
    return http().request({
      agent: isAlone ? this.#alone : this.#agent,
      host,
      port,
      method,
      path: target,
      headers: { ...headers, host: `${named}:${port}` },
    });
  }

  /** Closes all connections, also those in use. */
  close(): void {
    this.#agent.destroy();
    this.#alone.destroy();
  }
}

async function connected(connect: (target: Target) => Promise<Socket>, target: Target, done: Done): Promise<void> {
  try {
    done(null, await connect(target));
  } catch (error) {
    done(asError(error));
  }
}

type Agent = InstanceType<ReturnType<typeof http>['Agent']>;

type Done = (error: Error | null, socket?: Socket) => void;
