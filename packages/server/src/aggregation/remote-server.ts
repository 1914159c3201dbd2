/**
 * Connections to one aggregated API server: TLS as its APIService specifies, with the client certificate of the front proxy, to addresses
 * that the outbound policy allows. Connections are reused.
 */

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { asError } from '@hangar/core';
import type { AnswerBudget, Outbound, ServiceResolver } from '../outbound/index.ts';
import type { RemoteService } from './api-service.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { RemoteRequest, Target, Upstream } from './connection-pool.ts';

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Reach {
  readonly outbound: Outbound;
  readonly services: Pick<ServiceResolver, 'resolve'>;
  readonly clientCertificate: () => KeyPair | undefined;
}

const connectTimeoutMs = 10_000;

export class RemoteServer implements Upstream {
  readonly #reach: Reach;
  readonly #service: RemoteService;
  readonly #pool: ConnectionPool;

  constructor(reach: Reach, service: RemoteService) {
    this.#reach = reach;
    this.#service = service;
    this.#pool = new ConnectionPool((target) => this.#connect(target));
  }

  /** Returns the budget for responses of the control plane that this server is aggregated into. */
  get answers(): AnswerBudget {
    return this.#reach.outbound.answers;
  }

  /** Returns the budget for kept documents of that control plane. */
  get documents(): AnswerBudget {
    return this.#reach.outbound.documents;
  }

  async begin(request: RemoteRequest): Promise<ClientRequest> {
    return this.#pool.begin(request, await this.#reach.services.resolve(this.#service.service));
  }

  /** Returns the URL of a path, for messages. */
  async url(path: string): Promise<string> {
    const { host, port } = await this.#reach.services.resolve(this.#service.service);
    return `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  }

  close(): void {
    this.#pool.close();
  }

  #connect({ host, port }: Target): Promise<Socket> {
    const { service, ca, isInsecure } = this.#service;
    const destination = {
      host,
      port,
      ca,
      isInsecure,
      serverName: `${service.name}.${service.namespace}.svc`,
      clientCertificate: this.#reach.clientCertificate(),
    };
    return this.#reach.outbound.open(destination, { timeoutMs: connectTimeoutMs, isService: true });
  }
}

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
