/**
 * TLS on one port for HTTP/1.1 and HTTP/2. Converts sockets to `ServerRequest`s and responses to bytes, independent of Kubernetes.
 *
 * Slow and half-open clients: the handshake, the head and the body of a request each have a timeout; idle connections are closed. A body is
 * never read beyond its limit.
 */

import { constants } from 'node:crypto';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { SecureContext, Server as TlsServer, TLSSocket, TlsOptions } from 'node:tls';
import { Activity, runActivity } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Connection } from './h2/connection.ts';
import { answerHttp1, Http1Request, namesSeveralHosts } from './http1.ts';
import { isStreaming } from './message.ts';
import type { Answer, Handler, Intake, Peer, Sink, Streaming } from './message.ts';
import { OwnedPort } from './owned-port.ts';
import type { OwnedPortOptions, SharedListener } from './owned-port.ts';
import { peerOf } from './peer.ts';
import { refusePlainHttp } from './plain-http.ts';
import { Pipelines } from './pipelines.ts';
import { ServerNames } from './server-names.ts';
import type { ServerCertificateOf } from './server-names.ts';
import { answerUpgrade, isUpgrade } from './upgrade.ts';

/** A named import would evaluate all exports, some of which load a whole client: 5 MB that are not needed. */
const { createServer: createHttpServer } = process.getBuiltinModule('node:http');

export interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly key: string;
  readonly certificate: string;
  /** CAs of client certificates; PEM. */
  readonly clientCas: string;
  /**
   * Additional CAs that are advertised to clients, so that they send certificates of them; they must not verify anything. Such certificates
   * are `unverified`. PEM.
   */
  readonly advertisedCas?: string;
  /** Certificates for server names (SNI); all other names get the certificate of the port. */
  readonly serverCertificate?: ServerCertificateOf;
  readonly clock: Clock;
  readonly handler: Handler;
  /** Absent: requests are handled when they are received. */
  readonly intake?: Intake;
  /** Time that `close` waits for requests in flight. */
  readonly closeGraceMs?: number;
  /** Called with errors below the handler. */
  readonly onError?: (error: Error) => void;
}

export interface Listener {
  readonly port: number;
  /** Opens a port for one tenant on the same host, with the same limits. It is closed with the listener. Rejects if the port is in use. */
  openPort(options: OwnedPortOptions): Promise<OwnedPort>;
  /** Replaces certificates and CAs for new connections. Throws if they are invalid, and changes nothing. */
  reload(changed: Partial<Pick<ListenOptions, 'key' | 'certificate' | 'clientCas'>>): void;
  /** Accepts no more connections, ends watches, waits for requests in flight, then closes all connections. */
  close(): Promise<void>;
}

const handshakeTimeoutMs = 10_000;
const headTimeoutMs = 15_000;
/** Interval of the check for late heads in HTTP/1.1: Node's default of half a minute would triple their timeout. */
const headCheckMs = 3_000;
const idleTimeoutMs = 300_000;
/** Timeout for the rest of a body after its request was refused. */
const restTimeoutMs = 30_000;
/**
 * As in kube-apiserver, AES-128 comes before AES-256, which needs more CPU for every byte. The server decides, because clients with OpenSSL
 * prefer AES-256.
 */
const ciphers = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', ...olderCiphers()];
const defaultCloseGraceMs = 2_000;
const headerBytesMax = 64 * 1024;

export async function listen(options: ListenOptions): Promise<Listener> {
  const streams = new OpenStreams();
  const http1 = httpServer(options, streams);
  const http2 = new Set<Connection>();
  const sockets = new Set<Socket>();
  const names = options.serverCertificate && new ServerNames(options.serverCertificate, commonOf(options));
  const server = createTlsServer({
    ...commonOf(options),
    key: options.key,
    cert: options.certificate,
    ...(names ? { SNICallback: contextChooser(names, options) } : {}),
  });
  const opened = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const accept = (socket: TLSSocket, owner?: string): void => {
    socket.on('error', () => socket.destroy());
    if (owner !== undefined) peers.set(socket, { ...peerOf(socket), portOwner: owner });
    if (socket.alpnProtocol === 'h2') startHttp2(socket, options, http2);
    else {
      // Without it, small writes of an upgraded connection wait for the acknowledgement of the previous one: 40 ms each.
      socket.setNoDelay(true);
      http1.emit('connection', socket);
    }
  };
  server.on('connection', opened);
  server.on('secureConnection', (socket) => accept(socket));
  refusePlainHttp(server);
  await listening(server, options);
  let identity: Pick<ListenOptions, 'key' | 'certificate' | 'clientCas' | 'advertisedCas'> = options;
  let common = commonOf(identity);
  const { host, clock, onError } = options;
  const shared: SharedListener = { host, clock, handshakeTimeoutMs, tls: () => common, accept, opened, onError };
  const ports = new Set<OwnedPort>();
  return {
    port: (server.address() as AddressInfo).port,
    async openPort(wanted) {
      const port = await OwnedPort.open(shared, wanted);
      for (const closed of ports) if (!closed.isOpen) ports.delete(closed);
      ports.add(port);
      return port;
    },
    reload(changed) {
      const next = { ...identity, ...changed };
      server.setSecureContext({ ...commonOf(next), key: next.key, cert: next.certificate });
      names?.use(commonOf(next));
      identity = next;
      common = commonOf(next);
    },
    close: () =>
      close({
        server,
        ports,
        http1,
        http2,
        sockets,
        streams,
        clock: options.clock,
        graceMs: options.closeGraceMs ?? defaultCloseGraceMs,
      }),
  };
}

/** Cipher suites of TLS 1.2, as Node.js orders them. */
function olderCiphers(): string[] {
  return constants.defaultCoreCipherList.split(':').filter((name) => !name.startsWith('TLS_'));
}

/** TLS options that do not depend on the server name. */
const commonOf = ({ clientCas, advertisedCas }: Pick<ListenOptions, 'clientCas' | 'advertisedCas'>) =>
  ({
    requestCert: true,
    // A certificate of another CA is ignored: the request may still have a token.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeTimeoutMs,
    ca: advertisedCas === undefined ? clientCas : [clientCas, advertisedCas],
    minVersion: 'TLSv1.2',
    ciphers: ciphers.join(':'),
    honorCipherOrder: true,
    // Sessions may be resumed under any name: client verification does not depend on it.
    sessionIdContext: 'hangar',
  }) satisfies TlsOptions;

/** A name without an available certificate gets the certificate of the port, which the client then rejects. */
const contextChooser =
  (names: ServerNames, { onError }: ListenOptions): NonNullable<TlsOptions['SNICallback']> =>
  (name, choose) => {
    let context: SecureContext | undefined;
    try {
      context = names.contextOf(name);
    } catch (error) {
      onError?.(error as Error);
    }
    choose(null, context);
  };

function listening(server: TlsServer, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Endless responses over HTTP/1.1: watches. */
class OpenStreams {
  readonly #sinks = new Set<Sink>();
  isClosing = false;

  followed(answer: Answer): Answer {
    const { body } = answer;
    return isStreaming(body) && !body.isFinite
      ? { ...answer, body: { start: (sink) => this.#start(body, sink) } }
      : answer;
  }

  #start(body: Streaming, sink: Sink): void {
    this.#sinks.add(sink);
    body.start(sink);
    sink.onClose(() => this.#sinks.delete(sink));
    if (this.isClosing) sink.end();
  }

  /** Written data is sent, and the client sees a normal end of the response. */
  end(): void {
    this.isClosing = true;
    for (const sink of this.#sinks) sink.end();
  }
}

const atOnce: Intake = { take: (_peer, handle) => handle() };
const badRequest: Answer = { status: 400, headers: {}, body: new Uint8Array() };

function httpServer({ handler, intake = atOnce, clock, onError }: ListenOptions, streams: OpenStreams): HttpServer {
  const server = createHttpServer({
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: headCheckMs,
    requestTimeout: 0,
    keepAliveTimeout: idleTimeoutMs,
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: false,
    shouldUpgradeCallback: isUpgrade,
  });
  const handled = (incoming: IncomingMessage, request: Http1Request): Promise<Answer> =>
    namesSeveralHosts(incoming) ? Promise.resolve(badRequest) : handler(request);
  server.on('upgrade', (incoming: IncomingMessage, socket, head) => {
    const upgrade = { socket, head };
    const request = new Http1Request(incoming, peerOfSocket(incoming.socket as TLSSocket), clock, upgrade);
    runActivity(new Activity(request.method, request.target), () =>
      handled(incoming, request).then((answer) =>
        answerUpgrade(incoming, upgrade, streams.followed(answer), request, clock),
      ),
    ).catch((error: Error) => {
      onError?.(error);
      socket.destroy();
    });
  });
  const pipelines = new Pipelines();
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    if (!pipelines.begun(incoming.socket)) return;
    const request = new Http1Request(incoming, peerOfSocket(incoming.socket as TLSSocket), clock);
    response.once('close', () => {
      pipelines.ended(incoming.socket);
      if (streams.isClosing) clock.soon(() => server.closeIdleConnections());
      if (incoming.complete) return;
      const rest = clock.after(restTimeoutMs, () => incoming.complete || incoming.socket.destroy());
      incoming.once('close', () => rest.cancel());
    });
    const answer = (): Promise<void> =>
      handled(incoming, request).then((answered) => answerHttp1(response, streams.followed(answered), request, clock));
    intake.take(request.peer, () => {
      if (response.destroyed) return;
      runActivity(new Activity(request.method, request.target), answer).catch((error: Error) => {
        onError?.(error);
        response.destroy();
      });
    });
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    // Not `end`: a connection that was reset, or that the peer keeps open, would stay forever.
    socket.destroy();
  });
  // The server gets sockets and never listens itself: this starts its check for late heads.
  server.emit('listening');
  return server;
}

function startHttp2(
  socket: TLSSocket,
  { handler, intake, clock, onError }: ListenOptions,
  open: Set<Connection>,
): void {
  const connection = new Connection(socket, {
    peer: peerOfSocket(socket),
    clock,
    handler,
    intake,
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
  readonly ports: Iterable<OwnedPort>;
  readonly http1: HttpServer;
  readonly http2: ReadonlySet<Connection>;
  readonly sockets: ReadonlySet<Socket>;
  readonly streams: OpenStreams;
  readonly clock: Clock;
  readonly graceMs: number;
}

async function close({ server, ports, http1, http2, sockets, streams, clock, graceMs }: Open): Promise<void> {
  const timer = clock.after(graceMs, () => {
    for (const connection of http2) connection.abort();
    for (const socket of sockets) socket.destroy();
  });
  const stopped = [
    new Promise<void>((resolve) => void server.close(() => resolve())),
    ...Array.from(ports, (port) => port.stop()),
  ];
  streams.end();
  http1.close();
  http1.closeIdleConnections();
  for (const connection of http2) connection.close();
  await Promise.all(stopped);
  timer.cancel();
}
