/**
 * Connections to one aggregated API server: TLS as its APIService specifies, with the client certificate of the front proxy, to addresses
 * that the outbound policy allows. Connections are reused.
 */

import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { asError } from '@hangar/core';
import type { AnswerBudget, Outbound, ServiceResolver } from '../outbound/index.ts';
import type { RemoteService } from './api-service.ts';

/** Loaded with the first aggregated server, not at startup. */
const http = () => process.getBuiltinModule('node:http');

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Reach {
  readonly outbound: Outbound;
  readonly services: Pick<ServiceResolver, 'resolve'>;
  readonly clientCertificate: () => KeyPair | undefined;
}

export interface RemoteRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  /** Uses a dedicated connection that is not reused. */
  readonly isAlone?: boolean;
}

const connectTimeoutMs = 10_000;
const idleMs = 90_000;
const idleMax = 32;

export class RemoteServer {
  readonly #reach: Reach;
  readonly #service: RemoteService;
  readonly #agent: Agent;
  readonly #alone: Agent;

  constructor(reach: Reach, service: RemoteService) {
    this.#reach = reach;
    this.#service = service;
    const { Agent } = http();
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs });
    this.#alone = new Agent({ keepAlive: false });
    // Agents of node:http create plain connections. This replaces them with connections that use TLS and the outbound policy.
    for (const agent of [this.#agent, this.#alone]) {
      agent.createConnection = ((options: { host: string; port: number }, done: Done) => {
        void this.#connect(options, done);
      }) as never;
    }
  }

  /** Returns the budget for responses of the control plane that this server is aggregated into. */
  get answers(): AnswerBudget {
    return this.#reach.outbound.answers;
  }

  /** Returns the budget for kept documents of that control plane. */
  get documents(): AnswerBudget {
    return this.#reach.outbound.documents;
  }

  /** Starts the request; the caller writes its body. Rejects if the service is unreachable. */
  async begin({ method, target, headers, isAlone }: RemoteRequest): Promise<ClientRequest> {
    const { host, port } = await this.#reach.services.resolve(this.#service.service);
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

  /** Returns the URL of a path, for messages. */
  async url(path: string): Promise<string> {
    const { host, port } = await this.#reach.services.resolve(this.#service.service);
    return `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  }

  close(): void {
    this.#agent.destroy();
    this.#alone.destroy();
  }

  async #connect({ host, port }: { host: string; port: number }, done: Done): Promise<void> {
    const { service, ca, isInsecure } = this.#service;
    const destination = {
      host,
      port,
      ca,
      isInsecure,
      serverName: `${service.name}.${service.namespace}.svc`,
      clientCertificate: this.#reach.clientCertificate(),
    };
    try {
      done(null, await this.#reach.outbound.open(destination, { timeoutMs: connectTimeoutMs, isService: true }));
    } catch (error) {
      done(asError(error));
    }
  }
}

type Agent = InstanceType<ReturnType<typeof http>['Agent']>;

type Done = (error: Error | null, socket?: Socket) => void;

/** Returns a complete response, for requests of the aggregator itself. Rejects if it is too large or takes too long. */
export async function askRemote(
  server: RemoteServer,
  request: RemoteRequest,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
  const outgoing = await server.begin(request);
  const { answers } = server;
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const release = (): void => {
      signal.removeEventListener('abort', onAbort);
      answers.give(bytes);
      bytes = 0;
    };
    const fail = (error: Error): void => {
      release();
      outgoing.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(new Error('context deadline exceeded'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    outgoing.on('error', fail);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', fail);
      response.on('data', (chunk: Buffer) => {
        if (outgoing.destroyed) return;
        try {
          if (bytes + chunk.length > bytesMax) throw new Error(`the response is larger than ${bytesMax} bytes`);
          answers.take(chunk.length);
        } catch (error) {
          fail(asError(error));
          return;
        }
        bytes += chunk.length;
        chunks.push(chunk);
      });
      response.on('end', () => {
        release();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    outgoing.end();
  });
}
