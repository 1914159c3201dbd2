/**
 * TLS on one port for HTTP/1.1 and HTTP/2. Sockets become `ServerRequest`s, answers become bytes; nothing here knows
 * Kubernetes.
 *
 * Slow and half-open clients: a handshake, a request's head and a request's body each have a time in which they must come;
 * what is idle beyond that is closed. A body is never read beyond its bound.
 */

import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { constants, performServerHandshake } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import type { Clock } from '@hangar/core';
import { Http1Request, answerHttp1 } from './http1.ts';
import { Http2Request, answerHttp2 } from './http2.ts';
import { isStreaming } from './message.ts';
import type { Handler, Peer, Sink, Streaming } from './message.ts';
import { peerOf } from './peer.ts';

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
  /** Told of what went wrong below the handler. */
  readonly onError?: (error: Error) => void;
}

export interface Listener {
  readonly port: number;
  /** Takes no more connections, ends watches, waits for requests under way, then closes what is left. */
  close(): Promise<void>;
}

const handshakeTimeoutMs = 10_000;
const headTimeoutMs = 15_000;
const idleTimeoutMs = 300_000;
/** For what is left of a body when its request was answered already, with a refusal. */
const restTimeoutMs = 30_000;
const closeGraceMs = 2_000;
const streamsPerSessionMax = 250;
const headerBytesMax = 64 * 1024;

export async function listen(given: ListenOptions): Promise<Listener> {
  const streams = new OpenStreams();
  const options = { ...given, handler: streams.followed(given.handler) };
  const http1 = httpServer(options, streams);
  const sessions = new Set<ServerHttp2Session>();
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
    if (socket.alpnProtocol === 'h2') sessions.add(http2Session(socket, options, sessions));
    else http1.emit('connection', socket);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => close({ server, http1, sessions, sockets, streams, clock: options.clock }),
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

/** Answers that go on until somebody ends them: watches. */
class OpenStreams {
  readonly #sinks = new Set<Sink>();
  isClosing = false;

  followed(handler: Handler): Handler {
    return async (request) => {
      const answer = await handler(request);
      const { body } = answer;
      if (!isStreaming(body)) return answer;
      return { ...answer, body: { start: (sink) => this.#start(body, sink) } };
    };
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
    requestTimeout: 0,
    keepAliveTimeout: idleTimeoutMs,
    maxHeaderSize: headerBytesMax,
    noDelay: true,
    insecureHTTPParser: false,
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
      .then((answer) => answerHttp1(response, answer, request))
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

function http2Session(
  socket: TLSSocket,
  { handler, clock, onError }: ListenOptions,
  sessions: Set<ServerHttp2Session>,
): ServerHttp2Session {
  const peer = peerOfSocket(socket);
  const session = performServerHandshake(socket, {
    settings: { maxConcurrentStreams: streamsPerSessionMax, initialWindowSize: 1024 * 1024 },
    maxSessionInvalidFrames: 100,
    maxHeaderListPairs: 256,
  }) as ServerHttp2Session;
  session.setLocalWindowSize(4 * 1024 * 1024);
  // A session with a watch is not idle, however quiet. Its own timeout would outlive it, and keep all that it knows.
  const whenIdle = (): { cancel(): void } => clock.after(idleTimeoutMs, () => session.close());
  let idle = whenIdle();
  let streams = 0;
  session.on('error', () => destroySoon(session, clock));
  session.once('close', () => {
    idle.cancel();
    sessions.delete(session);
  });
  session.on('stream', (stream: ServerHttp2Stream, headers) => {
    if (streams++ === 0) idle.cancel();
    stream.once('close', () => {
      if (--streams === 0 && !session.destroyed) idle = whenIdle();
    });
    stream.on('error', () => stream.close());
    stream.once('finish', () => {
      if (stream.endAfterHeaders || stream.readableEnded) return;
      const rest = clock.after(restTimeoutMs, () => stream.close());
      stream.once('close', () => rest.cancel());
    });
    const request = new Http2Request(stream, headers, peer, clock);
    handler(request)
      .then((answer) => answerHttp2(stream, answer, request))
      .catch((error: Error) => {
        onError?.(error);
        // Not simply closed: a client would take that for an answer that has not come yet.
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      });
  });
  return session;
}

/** Not inside the handling of one of its own frames: the session would be freed under it. */
function destroySoon(session: ServerHttp2Session, clock: Clock): void {
  clock.soon(() => session.destroy());
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
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  readonly sockets: ReadonlySet<Socket>;
  readonly streams: OpenStreams;
  readonly clock: Clock;
}

function close({ server, http1, sessions, sockets, streams, clock }: Open): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(closeGraceMs, () => {
      for (const socket of sockets) socket.destroy();
    });
    server.close(() => {
      timer.cancel();
      resolve();
    });
    streams.end();
    http1.close();
    http1.closeIdleConnections();
    for (const session of sessions) session.close();
  });
}
