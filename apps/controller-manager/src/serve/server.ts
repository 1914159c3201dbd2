/** The port: TLS, HTTP/1.1, limits for slow and hostile clients, a certificate that may change. `routes.ts` computes the answers. */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { internalError, StatusError } from '@hangar/api/status';
import { asError, settledWithin } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { CertificatePair, Certificates } from '@hangar/runtime/webhooks';
import { refusal } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Routes } from './routes.ts';
import { Sender } from './sender.ts';

export interface HttpsServerOptions {
  readonly certificates: Certificates;
  readonly routes: Routes;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: defaults that do not affect well-behaved clients. */
  readonly limits?: Partial<typeof usualLimits> | undefined;
}

const usualLimits = {
  maxHeaderSize: 16 * 1024,
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  /** Without traffic. */
  timeout: 90_000,
  connectionsMax: 1_000,
};
/** For requests in progress at shutdown. */
const closeGraceMs = 1_000;

export class HttpsServer {
  readonly #options: HttpsServerOptions;
  readonly #server: Server;
  readonly #sender: Sender;
  /** Includes sockets that have not started TLS, which the server does not track. */
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  #watching: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: HttpsServerOptions) {
    this.#options = options;
    this.#sender = new Sender(options.clock);
    const { connectionsMax, timeout, ...limits } = { ...usualLimits, ...options.limits };
    this.#server = createServer(limits, (request, response) => void this.#serve(request, response));
    this.#server.maxConnections = connectionsMax;
    this.#server.setTimeout(timeout);
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // Broken handshakes are ignored; Node answers incomplete requests with 400, 408 or 431.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** Rejects when there is no certificate or the address is not available. Called once. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    const { certificates, log } = this.#options;
    const pair = await certificates.read();
    this.#use(pair);
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => log.error('the server reported an error', { error }));
    this.#watching = this.#watch(pair);
    return this.#server.address() as AddressInfo;
  }

  /** Accepts nothing new; requests in progress have a short grace period. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    await settledWithin(this.#options.clock, closeGraceMs, closed);
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Used for new connections. */
  #use({ certificate, key }: CertificatePair): void {
    this.#server.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  }

  async #watch(known: CertificatePair): Promise<void> {
    const { certificates, log } = this.#options;
    const onError = (error: Error): void =>
      log.error('failed to renew the certificate: the previous one stays in use', { error });
    const onChange = (pair: CertificatePair): void => {
      try {
        this.#use(pair);
        log.info('the certificate was replaced');
      } catch (error) {
        onError(asError(error));
      }
    };
    try {
      await certificates.watch(known, { onRead: () => {}, onError, onChange }, this.#closing.signal);
    } catch (error) {
      onError(asError(error));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#sender.send(request, response, await this.#answer(request));
  }

  async #answer({ method = '', url = '', headers }: IncomingMessage): Promise<Answer> {
    const { authorization, accept } = headers;
    try {
      return await this.#options.routes.answer({ method, target: url, authorization, accept });
    } catch (error) {
      if (error instanceof StatusError) return refusal(error);
      this.#options.log.error('failed to answer a request', { error: asError(error) });
      // The cause is in the log.
      return refusal(internalError(new Error('the request could not be answered: see the log')));
    }
  }
}
