/** The part of the kubelet API that clients use: logs, exec, attach, port-forward, metrics and health, over TLS with client certificates. */

import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import type { RuntimeMetrics } from '../metrics.ts';
import type { Pods } from '../pods/pods.ts';
import { userOf } from './authorizer.ts';
import type { KubeletAuthorizer } from './authorizer.ts';
import { attach, exec } from './exec.ts';
import { serveLog } from './log-request.ts';
import { forwardPorts, portForwardProtocol } from './port-forward.ts';
import { openSession, wantedStreams } from './remote-streams.ts';
import { refuse, switchToSpdy } from './upgrade.ts';

export interface KubeletServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  /** Clients need a certificate of this CA, PEM. */
  readonly clientCa: string;
  readonly authorizer: KubeletAuthorizer;
  readonly pods: Pods;
  readonly metrics: RuntimeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export class KubeletServer {
  readonly #options: KubeletServerOptions;
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();

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
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgraded.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#upgraded.delete(socket));
      void this.#admit(request, socket, head);
    });
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
    for (const socket of this.#upgraded) socket.destroy();
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
    const { pathname, searchParams, segments } = targetOf(url);
    if (method === 'GET' && pathname === '/healthz') return void response.end('ok');
    const { authorizer, metrics } = this.#options;
    const isMetrics = method === 'GET' && (pathname === '/metrics' || pathname === '/metrics/resource');
    const subresource = isMetrics ? 'metrics' : 'proxy';
    const refusal = await authorizer.refusal(userOf(socket as TLSSocket), method, subresource);
    if (refusal !== undefined) return void response.writeHead(403).end(refusal);
    if (isMetrics) {
      const registry = pathname === '/metrics' ? metrics.registry : metrics.resources;
      return void response.writeHead(200, { 'content-type': metricsType }).end(registry.text());
    }
    const [route, namespace, pod, container, ...rest] = segments;
    if (method === 'GET' && route === 'containerLogs' && namespace && pod && container && rest.length === 0) {
      return serveLog({ namespace, pod, container, query: searchParams }, response, this.#options);
    }
    response.writeHead(404).end('404 page not found\n');
  }

  async #admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const refusal = await this.#options.authorizer.refusal(
        userOf(request.socket as TLSSocket),
        request.method ?? 'GET',
      );
      if (refusal === undefined) this.#upgrade(request, socket, head);
      else refuse(socket, 403, refusal);
    } catch (error) {
      this.#options.log.warn('failed to answer a request of the API server', { error: asError(error).message });
      refuse(socket, 500, 'Internal Server Error');
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { pods, clock } = this.#options;
    const { segments, searchParams: query } = targetOf(request.url ?? '/');
    const [route = '', namespace = '', podName = '', container = ''] = segments;
    const worker = pods.byName(namespace, podName);
    const unit = worker?.unit(container);
    if (route === 'portForward') {
      if (!worker) return refuse(socket, 404, `pod ${JSON.stringify(podName)} not found`);
      if (switchToSpdy(request, socket, [portForwardProtocol]) === undefined) return;
      return forwardPorts({ socket, head, podName, podIP: worker.address, clock });
    }
    if (route !== 'exec' && route !== 'attach') return refuse(socket, 404, '404 page not found');
    if (!unit) return refuse(socket, 404, `container ${JSON.stringify(container)} not found`);
    const protocol = switchToSpdy(request, socket, remoteProtocols);
    if (protocol === undefined) return;
    const wanted = wantedStreams(query);
    const hasStatus = protocol.startsWith('v4.');
    const command = query.getAll('command');
    openSession({
      socket,
      head,
      wanted,
      hasStatus,
      clock,
      start: (session) =>
        void (route === 'exec' ? exec(session, unit, { command, isTty: wanted.tty }) : attach(session, unit, clock)),
    });
  }
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Newest first. */
const remoteProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];

function targetOf(url: string): { pathname: string; segments: string[]; searchParams: URLSearchParams } {
  const { pathname, searchParams } = new URL(url, 'https://kubelet');
  return { pathname, searchParams, segments: pathname.split('/').slice(1).map(decodeURIComponent) };
}
