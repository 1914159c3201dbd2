/**
 * TLS on one port for HTTP/1.1 and HTTP/2. Sockets become `ServerRequest`s, answers become bytes; nothing here knows
 * Kubernetes.
 *
 * Slow and half-open clients: a handshake, a request's head and a request's body each have a time in which they must come;
 * what is idle beyond that is closed. A body is never read beyond its bound.
 */

import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import type { Clock } from '@hangar/core';
import { Connection } from './h2/connection.ts';
import { Http1Request, answerHttp1 } from './http1.ts';
import { isStreaming } from './message.ts';
import type { Answer, Handler, Peer, Sink, Streaming } from './message.ts';
import { peerOf } from './peer.ts';
import { answerUpgrade, isUpgrade } from './upgrade.ts';

/** Importing it by name would evaluate all of its exports, some of which load a whole client: 5 MB that nobody uses. */
const { createServer: createHttpServer } = process.getBuiltinModule('node:http');

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly key: string;
  readonly certificate: string;
  /** Client certificates must come from one of these; PEM. */
  readonly clientCas: string;
  readonly clock: Clock;
  readonly handler: Handler;
  /** How long `close` waits for requests under way. */
  readonly closeGraceMs?: number;
  /** Told of what went wrong below the handler. */
  readonly onError?: (error: Error) => void;
}

export interface Listener {
  readonly port: number;
  /** For connections from now on: a renewed certificate, other CAs. Throws when they are none, and nothing changes. */
  reload(changed: Partial<Pick<ListenOptions, 'key' | 'certificate' | 'clientCas'>>): void;
  /** Takes no more connections, ends watches, waits for requests under way, then closes what is left. */
  close(): Promise<void>;
}

const handshakeTimeoutMs = 10_000;
const headTimeoutMs = 15_000;
/** How often HTTP/1.1 looks for heads that are late: Node's half a minute would triple their time. */
const headCheckMs = 3_000;
const idleTimeoutMs = 300_000;
/** For what is left of a body when its request was answered already, with a refusal. */
const restTimeoutMs = 30_000;
const defaultCloseGraceMs = 2_000;
const headerBytesMax = 64 * 1024;

export async function listen(options: ListenOptions): Promise<Listener> {
  const streams = new OpenStreams();
  const http1 = httpServer(options, streams);
  const http2 = new Set<Connection>();
  const sockets = new Set<Socket>();
  const server = createTlsServer({
    key: options.key,
    cert: options.certificate,
    ca: options.clientCas,
    requestCert: true,
    // A certificate from elsewhere is no certificate: the request may still bring a token.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout: handshakeTimeoutMs,
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy());
    if (socket.alpnProtocol === 'h2') startHttp2(socket, options, http2);
    else http1.emit('connection', socket);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await listening(server, options);
  let identity: Pick<ListenOptions, 'key' | 'certificate' | 'clientCas'> = options;
  return {
    port: (server.address() as AddressInfo).port,
    reload(changed) {
      const next = { ...identity, ...changed };
      server.setSecureContext({ key: next.key, cert: next.certificate, ca: next.clientCas, minVersion: 'TLSv1.2' });
      identity = next;
    },
    close: () =>
      close({
        server,
        http1,
        http2,
        sockets,
        streams,
        clock: options.clock,
        graceMs: options.closeGraceMs ?? defaultCloseGraceMs,
      }),
  };
}

function listening(server: TlsServer, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Answers over HTTP/1.1 that go on until somebody ends them: watches. */
class OpenStreams {
  readonly #sinks = new Set<Sink>();
  isClosing = false;

  followed(answer: Answer): Answer {
    const { body } = answer;
    return isStreaming(body) ? { ...answer, body: { start: (sink) => this.#start(body, sink) } } : answer;
  }

  #start(body: Streaming, sink: Sink): void {
    this.#sinks.add(sink);
    body.start(sink);
    sink.onClose(() => this.#sinks.delete(sink));
    if (this.isClosing) sink.end();
  }

  /** What was written is sent, and the client sees an end instead of a broken connection. */
  end(): void {
    this.isClosing = true;
    for (const sink of this.#sinks) sink.end();
  }
}

function httpServer({ handler, clock, onError }: ListenOptions, streams: OpenStreams): HttpServer {
  const server = createHttpServer({
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: headCheckMs,
    requestTimeout: 0,
    keepAliveTimeout: idleTimeoutMs,
    maxHeaderSize: headerBytesMax,
    noDelay: true,
    insecureHTTPParser: false,
    shouldUpgradeCallback: isUpgrade,
  });
  server.on('upgrade', (incoming: IncomingMessage, socket, head) => {
    const upgrade = { socket, head };
    const request = new Http1Request(incoming, peerOfSocket(incoming.socket as TLSSocket), clock, upgrade);
    handler(request)
      .then((answer) => answerUpgrade(incoming, upgrade, streams.followed(answer), request, clock))
      .catch((error: Error) => {
        onError?.(error);
        socket.destroy();
      });
  });
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    const request = new Http1Request(incoming, peerOfSocket(incoming.socket as TLSSocket), clock);
    response.once('close', () => {
      if (streams.isClosing) clock.soon(() => server.closeIdleConnections());
      if (incoming.complete) return;
      const rest = clock.after(restTimeoutMs, () => incoming.complete || incoming.socket.destroy());
      incoming.once('close', () => rest.cancel());
    });
    handler(request)
      .then((answer) => answerHttp1(response, streams.followed(answer), request, clock))
      .catch((error: Error) => {
        onError?.(error);
        response.destroy();
      });
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    // Not `end`: a connection that was reset, or whose other end stays, would be kept for ever.
    socket.destroy();
  });
  // It is given sockets and never listens itself: this starts its watch over heads that do not come.
  server.emit('listening');
  return server;
}

function startHttp2(socket: TLSSocket, { handler, clock, onError }: ListenOptions, open: Set<Connection>): void {
  const connection = new Connection(socket, {
    peer: peerOfSocket(socket),
    clock,
    handler,
    onError: (error) => onError?.(error),
    headTimeoutMs,
    idleTimeoutMs,
  });
  open.add(connection);
  socket.once('close', () => open.delete(connection));
}

const peers = new WeakMap<TLSSocket, Peer>();

function peerOfSocket(socket: TLSSocket): Peer {
  let peer = peers.get(socket);
  if (!peer) peers.set(socket, (peer = peerOf(socket)));
  return peer;
}

interface Open {
  readonly server: TlsServer;
  readonly http1: HttpServer;
  readonly http2: ReadonlySet<Connection>;
  readonly sockets: ReadonlySet<Socket>;
  readonly streams: OpenStreams;
  readonly clock: Clock;
  readonly graceMs: number;
}

function close({ server, http1, http2, sockets, streams, clock, graceMs }: Open): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(graceMs, () => {
      for (const socket of sockets) socket.destroy();
    });
    server.close(() => {
      timer.cancel();
      resolve();
    });
    streams.end();
    http1.close();
    http1.closeIdleConnections();
    for (const connection of http2) connection.close();
  });
}
