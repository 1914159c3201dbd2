/**
 * Webhooks over HTTPS: listens, reloads its certificate without dropping connections, shuts down gracefully. `endpoint.ts` computes the
 * responses; `answer` calls it without a socket.
 *
 * Shutdown: first it is not ready (`started` rejects), then it accepts no new connections, then it completes running requests, then it
 * closes connections.
 */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { asError, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { AdmissionHook } from './admission.ts';
import { checkPair, givenCertificate } from './certificates/contract.ts';
import type { CertificatePair, Certificates } from './certificates/contract.ts';
import { ConversionHook } from './conversion.ts';
import type { Conversion } from './conversion.ts';
import { plain, tooLarge, WebhookEndpoint } from './endpoint.ts';
import type { RawHandler, WebhookAnswer, WebhookRequest } from './endpoint.ts';
import { conversionPath } from './paths.ts';
import { BodyBudget, readBody } from './read-body.ts';
import { reach } from './reach.ts';
import { timeoutsOf } from './server-options.ts';
import type { WebhookServerOptions } from './server-options.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/** Serves webhooks over TLS. A manager runs it; `answer` serves requests without a socket. */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #clock: Clock;
  readonly #metrics: WebhookMetrics;
  readonly #endpoint: WebhookEndpoint;
  readonly #conversions: ConversionHook;
  readonly #hooks: AdmissionHook[] = [];
  readonly #budget: BodyBudget;
  /** Aborted when running requests must stop. */
  readonly #ended = new AbortController();
  readonly #listening = Promise.withResolvers<void>();
  #server: Server | undefined;
  #isEnding = false;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: WebhookServerOptions = {}) {
    const { clock = systemClock, client, log } = options;
    this.#options = options;
    // Most callers do not await it.
    this.#listening.promise.catch(() => {});
    this.#clock = clock;
    this.#metrics = new WebhookMetrics(options.metrics);
    this.#endpoint = new WebhookEndpoint({ metrics: this.#metrics, client, log, clock });
    this.#conversions = new ConversionHook(options.conversionPath ?? conversionPath);
    this.#budget = new BodyBudget(options.bodiesMaxBytes ?? 256 * 1024 * 1024);
  }

  /** Registers hooks. Throws `InvalidOptions` when a path is already used. */
  register(...hooks: readonly (AdmissionHook | Conversion)[]): this {
    for (const hook of hooks) {
      if (hook.type === 'conversion') {
        if (this.#conversions.conversions.length === 0) this.#endpoint.add(this.#conversions);
        this.#conversions.conversions.push(hook);
      } else {
        this.#endpoint.add(hook);
        this.#hooks.push(hook);
      }
    }
    return this;
  }

  /** Registers a handler for requests that are not reviews. */
  handle(path: string, handler: RawHandler): this {
    this.#endpoint.addRaw(path, handler);
    return this;
  }

  /** The registered admission hooks. */
  get hooks(): readonly AdmissionHook[] {
    return this.#hooks;
  }

  get conversions(): readonly Conversion[] {
    return this.#conversions.conversions;
  }

  get conversionPath(): string {
    return this.#conversions.path;
  }

  /** Serves a request without a socket. Never rejects. */
  answer(request: WebhookRequest): Promise<WebhookAnswer> {
    return this.#endpoint.answer(request);
  }

  /** Port of the server; 0 when it does not listen. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port ?? 0;
  }

  /** For readiness checks: resolves when the server is reachable through its own socket. Rejects with `NotServing`. */
  async started(): Promise<void> {
    if (this.#server === undefined || this.port === 0) throw notServing('the webhook server is not started');
    if (this.#isEnding) throw notServing('the webhook server is shutting down');
    await reach(this.port, this.#options.host, this.#clock);
  }

  /** Resolves when the server listens. Rejects with the error of `start`, or with `NotServing`. */
  listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** Serves until the signal is aborted, and resolves after the shutdown. Rejects when it cannot listen. Can be called once. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#server !== undefined)
      throw new RuntimeError('InvalidOptions', 'a webhook server can be started only once');
    try {
      await this.#serveUntil(signal);
      this.#listening.reject(notServing('the webhook server has stopped'));
    } catch (error) {
      this.#listening.reject(error);
      throw error;
    }
  }

  async #serveUntil(signal: AbortSignal): Promise<void> {
    const source = this.#certificates();
    const server = createServer(
      { ...timeoutsOf(this.#options), requestCert: this.#options.clientCa !== undefined },
      (request, response) => this.#onRequest(request, response),
    );
    this.#server = server;
    this.#metrics.certificateWasRead();
    const pair = await source.read().catch((error: unknown) => {
      this.#metrics.certificateFailed();
      throw error;
    });
    this.#useCertificate(server, pair);
    if (signal.aborted) return;
    server.maxConnections = this.#options.connectionsMax ?? 10_000;
    // Failed handshakes and incomplete requests are errors of the client.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    server.on('clientError', (_error, socket) => socket.destroy());
    server.listen({ port: this.#options.port ?? 9443, ...(this.#options.host ? { host: this.#options.host } : {}) });
    await once(server, 'listening');
    this.#listening.resolve();
    server.on('error', (error) => this.#options.log?.error('webhook server error', { error }));
    const following = new AbortController();
    const watching = this.#watchCertificate(server, source, pair, following.signal);
    try {
      await this.#untilToldToEnd(signal);
      await this.#end(server);
    } finally {
      following.abort();
      await watching;
    }
  }

  /** Not ready as soon as the signal is aborted. */
  #untilToldToEnd(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#isEnding = true;
        resolve();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #certificates(): Certificates {
    const { certificates } = this.#options;
    if (certificates === undefined)
      throw new RuntimeError('InvalidOptions', 'a webhook server requires a certificate to listen');
    return 'read' in certificates ? certificates : givenCertificate(certificates);
  }

  /** Applies to new connections. */
  #useCertificate(server: Server, { certificate, key }: CertificatePair): void {
    const { clientCa } = this.#options;
    server.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2', ...(clientCa ? { ca: clientCa } : {}) });
  }

  async #watchCertificate(
    server: Server,
    source: Certificates,
    known: CertificatePair,
    signal: AbortSignal,
  ): Promise<void> {
    const { log } = this.#options;
    const onError = (error: Error): void => {
      this.#metrics.certificateFailed();
      log?.error('failed to read the certificate of the webhook server, keeping the current one', { error });
    };
    try {
      const observer = {
        onRead: () => this.#metrics.certificateWasRead(),
        onError,
        onChange: (pair: CertificatePair) => {
          try {
            this.#useCertificate(server, checkPair(pair));
            log?.info('updated the certificate of the webhook server');
          } catch (error) {
            onError(asError(error));
          }
        },
      };
      await source.watch(known, observer, signal);
    } catch (error) {
      onError(asError(error));
    }
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight++;
    void this.#serve(request, response)
      .catch((error: unknown) => {
        this.#options.log?.error('failed to serve a webhook request', { error: asError(error) });
        request.socket.destroy();
      })
      .finally(() => {
        if (--this.#inFlight === 0) this.#onIdle?.();
      });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('error', () => {});
    response.once('close', () => gone.abort());
    const refusal = this.#refuseClient(request);
    const asked = headOf(request);
    const admitted = refusal ?? this.#endpoint.admit(asked);
    if (typeof admitted !== 'number') return this.#send(response, admitted, true);
    const read = await readBody(request, admitted, this.#budget);
    if (read.outcome === 'gone') return;
    if (read.outcome !== 'whole') {
      return this.#send(response, read.outcome === 'too large' ? tooLarge(admitted) : busy, true);
    }
    try {
      const signal = AbortSignal.any([gone.signal, this.#ended.signal]);
      await this.#send(response, await this.#endpoint.answer({ ...asked, body: read.body, signal }), false);
    } finally {
      this.#budget.give(read.body.length);
    }
  }

  #refuseClient({ socket }: IncomingMessage): WebhookAnswer | undefined {
    const { clientCa, clientNames } = this.#options;
    if (clientCa === undefined) return undefined;
    const tls = socket as TLSSocket;
    if (!tls.authorized) return plain(401, 'a client certificate signed by a trusted CA is required');
    const { subject } = tls.getPeerCertificate();
    const name = (subject as { CN?: string } | undefined)?.CN ?? '';
    return clientNames === undefined || clientNames.includes(name)
      ? undefined
      : plain(403, 'the client is not allowed');
  }

  /** Resolves when the response was sent or the client closed the connection. */
  async #send(response: ServerResponse, { status, headers, body }: WebhookAnswer, isLast: boolean): Promise<void> {
    if (response.destroyed) return;
    const close = isLast || this.#isEnding ? { connection: 'close' } : {};
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), ...close });
    const sent = new Promise<void>((resolve) => response.once('close', resolve));
    response.end(body);
    await sent;
  }

  async #end(server: Server): Promise<void> {
    const { shutdownDelayMs = 0, shutdownGraceMs = 30_000 } = this.#options;
    if (shutdownDelayMs > 0) await sleep(this.#clock, shutdownDelayMs);
    const closed = once(server, 'close');
    server.close();
    const timer = this.#clock.after(shutdownGraceMs, () => this.#onIdle?.());
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    timer.cancel();
    this.#ended.abort(new RuntimeError('NotServing', 'the webhook server is shutting down'));
    server.closeAllConnections();
    await closed;
  }
}

const busy = plain(503, 'too many requests are being read', { 'retry-after': '1' });
const notServing = (message: string): RuntimeError => new RuntimeError('NotServing', message);

function headOf(request: IncomingMessage): Omit<WebhookRequest, 'body'> {
  const headers: Record<string, string | undefined> = {};
  for (const name in request.headers) headers[name] = String(request.headers[name]);
  return { method: request.method ?? '', target: request.url ?? '/', headers };
}
