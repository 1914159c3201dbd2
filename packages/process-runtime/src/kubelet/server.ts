/** The part of the kubelet API that an API server calls: logs and health, over TLS with client certificates. */

import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import type { Pods } from '../pods/pods.ts';
import { userOf } from './authorizer.ts';
import type { KubeletAuthorizer } from './authorizer.ts';
import { serveLog } from './log-request.ts';

export interface KubeletServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  /** Clients need a certificate of this CA, PEM. */
  readonly clientCa: string;
  readonly authorizer: KubeletAuthorizer;
  readonly pods: Pods;
  readonly clock: Clock;
  readonly log: Logger;
}

export class KubeletServer {
  readonly #options: KubeletServerOptions;
  readonly #server: Server;

  static async listen(options: KubeletServerOptions): Promise<KubeletServer> {
    const kubelet = new KubeletServer(options);
    await new Promise<void>((resolve, reject) => {
      kubelet.#server.once('error', reject);
      kubelet.#server.listen({ host: options.host, port: options.port }, resolve);
    });
    kubelet.#server.on('error', () => {}).unref();
    return kubelet;
  }

  private constructor(options: KubeletServerOptions) {
    this.#options = options;
    const { certificate, key } = options.certificate;
    this.#server = createServer(
      {
        cert: certificate,
        key,
        ca: options.clientCa,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.on('tlsClientError', () => {});
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections use this certificate. */
  replaceCertificate({ certificate, key }: KeyPair): void {
    this.#server.setSecureContext({ cert: certificate, key, ca: this.#options.clientCa, minVersion: 'TLSv1.2' });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#route(request, response);
    } catch (error) {
      log.warn('failed to answer a request of the API server', { target: request.url, error: asError(error).message });
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  async #route({ method = 'GET', url = '/', socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'https://kubelet');
    const segments = pathname.split('/').slice(1).map(decodeURIComponent);
    if (method === 'GET' && pathname === '/healthz') return void response.end('ok');
    const refusal = await this.#options.authorizer.refusal(userOf(socket as TLSSocket), method);
    if (refusal !== undefined) return void response.writeHead(403).end(refusal);
    const [route, namespace, pod, container, ...rest] = segments;
    if (method === 'GET' && route === 'containerLogs' && namespace && pod && container && rest.length === 0) {
      return serveLog({ namespace, pod, container, query: searchParams }, response, this.#options);
    }
    response.writeHead(404).end('404 page not found\n');
  }
}
