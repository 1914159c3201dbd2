/** Scripted servers for tests: HTTP/2 and HTTP/1.1 behind TLS with a separate CA, or bare sockets. */

import { createServer as createHttp } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream, Settings } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { connect, createServer as createTcp } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { testAuthority } from '@hangar/testkit';
import type { ClusterConfig } from '../../config/cluster-config.ts';
import type { HttpTransport } from '../contract.ts';
import { httpTransport } from '../http-transport.ts';
import type { HttpTransportOptions } from '../http-transport.ts';

export const authority = testAuthority();
export const serving = authority.serving();

export interface TestServer {
  readonly port: number;
  readonly config: ClusterConfig;
  /** All accepted sockets, including closed ones. */
  readonly sockets: Socket[];
}

export async function listening(context: TestContext, server: Server, scheme: 'http' | 'https'): Promise<TestServer> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, sockets, config: { server: `${scheme}://127.0.0.1:${port}`, ca: authority.certificate } };
}

/** A link to a server that can be cut: then no data passes, and neither end is notified. Later connections work. */
export async function cable(context: TestContext, to: TestServer): Promise<TestServer & { cut(): void }> {
  const ends: Socket[] = [];
  const server = await tcpServer(context, (near) => {
    const far = connect(to.port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.push(one);
      one.on('error', () => other.destroy());
      one.on('data', (chunk) => ends.includes(one) && other.write(chunk));
      one.on('close', () => ends.includes(one) && other.destroy());
    }
    context.after(() => far.destroy());
  });
  return { ...server, cut: () => void ends.splice(0) };
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Supports HTTP/1.1 only. */
export const http1Server = (context: TestContext, handler: Handler): Promise<TestServer> =>
  listening(context, createHttps({ key: serving.key, cert: serving.certificate }, handler), 'https');

export const plainServer = (context: TestContext, handler: Handler): Promise<TestServer> =>
  listening(context, createHttp(handler), 'http');

export const tcpServer = (context: TestContext, onSocket: (socket: Socket) => void): Promise<TestServer> =>
  listening(context, createTcp(onSocket), 'https');

export interface Http2Server extends TestServer {
  readonly sessions: ServerHttp2Session[];
}

export async function http2Server(
  context: TestContext,
  onStream: (stream: ServerHttp2Stream, headers: Readonly<Record<string, string>>) => void,
  settings: Settings = {},
): Promise<Http2Server> {
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ key: serving.key, cert: serving.certificate, settings });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    onStream(stream, headers as Readonly<Record<string, string>>);
  });
  context.after(() => {
    for (const session of sessions) session.destroy();
  });
  return { ...(await listening(context, server as unknown as Server, 'https')), sessions };
}

export function transportTo(
  context: TestContext,
  config: ClusterConfig,
  options: HttpTransportOptions = {},
): HttpTransport {
  const transport = httpTransport(config, { environment: {}, ...options });
  context.after(() => transport.close());
  return transport;
}

/** Fails after a timeout instead of waiting forever. */
export async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`never: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const get = { method: 'GET', target: '/' } as const;
