/** A front door on a free port of 127.0.0.1, and backends for it. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import * as tls from 'node:tls';
import { Logger, systemClock } from '@hangar/core';
import { FrontDoor } from '../front-door.ts';
import type { FrontDoorOptions } from '../front-door.ts';
import type { MetricsSink } from '../metrics.ts';
import type { Backend, Route } from '../routes.ts';

/** Ciphers without certificates. */
const anonymous = { ciphers: 'AECDH-AES256-SHA:@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const;

export class TestMetrics implements MetricsSink {
  readonly #families: { text(): string }[] = [];
  readonly #updates: (() => void)[] = [];

  register<F extends { readonly name: string; text(): string }>(family: F): F {
    this.#families.push(family);
    return family;
  }

  onScrape(update: () => void): void {
    this.#updates.push(update);
  }

  /** Returns the value of a series, such as `name{route="a"}`. */
  value(series: string): number | undefined {
    for (const update of this.#updates) update();
    const lines = this.#families.flatMap((family) => family.text().split('\n'));
    const line = lines.find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }
}

export class TestDoor implements AsyncDisposable {
  readonly routes = new Map<string, Route>();
  readonly metrics = new TestMetrics();
  readonly #opened = new AsyncDisposableStack();
  door!: FrontDoor;
  /** Of the door. It stays known after the door is closed. */
  port = 0;

  static async open(options: Partial<FrontDoorOptions> = {}): Promise<TestDoor> {
    const test = new TestDoor();
    test.door = await FrontDoor.listen({
      host: '127.0.0.1',
      port: 0,
      findRoute: (name) => test.routes.get(name),
      clock: systemClock,
      log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
      metrics: test.metrics,
      ...options,
    });
    test.port = test.door.port;
    test.#opened.defer(() => test.door.close());
    return test;
  }

  /** Adds a route to backends. */
  route(serverName: string, ...backends: readonly Backend[]): void {
    this.routes.set(serverName, { name: serverName.split('.')[0]!, backends });
  }

  /** Adds a TCP server. Returns its address. */
  async backend(onConnection: (socket: Socket) => void): Promise<Backend> {
    return this.#listen(createServer({ allowHalfOpen: true }, onConnection));
  }

  /** Adds a TLS server. Returns its address. */
  async tlsBackend(onConnection: (socket: tls.TLSSocket) => void): Promise<Backend> {
    return this.#listen(tls.createServer(anonymous, onConnection));
  }

  /** Connects without TLS. */
  connect(localAddress = '127.0.0.1'): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.port, localAddress, allowHalfOpen: true });
    this.#opened.defer(() => void socket.destroy());
    return socket.on('error', () => undefined);
  }

  tls(servername: string): tls.TLSSocket {
    const { port } = this;
    const socket = tls.connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false, ...anonymous });
    this.#opened.defer(() => void socket.destroy());
    return socket;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }

  async #listen(server: Server): Promise<Backend> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#opened.defer(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    });
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }
}

/** Resolves with all bytes until the end. Rejects when the connection is reset. */
export async function allOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
