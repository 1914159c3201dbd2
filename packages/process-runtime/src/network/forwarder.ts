/**
 * Forwards connections to a port of a Service to one of its pods, in turn. A connection waits for a pod that accepts it: programs that
 * start together do not fail and back off, as the API server does while etcd starts.
 */

import { createServer, connect } from 'node:net';
import type { Server, Socket } from 'node:net';
import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Backend } from './service-table.ts';

export interface ForwarderOptions {
  readonly host: string;
  readonly port: number;
  /** Current backends. */
  readonly backends: () => readonly Backend[];
  readonly clock: Clock;
  readonly connectTimeoutMs?: number;
  /** How long a connection waits for a backend that accepts it. Then it is reset. Absent: 5 s. */
  readonly waitMs?: number | undefined;
}

const defaultWaitMs = 5_000;
const retryMs = 50;
/** Connections above this number do not wait. */
const waitingMax = 256;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turn = 0;
  #waiting = 0;

  /** Rejects when the port is in use. */
  static async listen(options: ForwarderOptions): Promise<Forwarder> {
    const forwarder = new Forwarder(options);
    await new Promise<void>((resolve, reject) => {
      forwarder.#server.once('error', reject);
      forwarder.#server.listen({ host: options.host, port: options.port, exclusive: true }, resolve);
    });
    forwarder.#server.on('error', () => {}).unref();
    return forwarder;
  }

  private constructor(options: ForwarderOptions) {
    this.#options = options;
    // Each direction is closed separately, as in TCP.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => void this.#forward(socket));
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #forward(client: Socket): Promise<void> {
    this.#track(client);
    const backend = await this.#backend(client);
    if (!backend || client.destroyed) {
      backend?.destroy();
      client.resetAndDestroy();
      return;
    }
    this.#track(backend);
    client.once('close', () => backend.destroy());
    backend.once('close', () => client.destroy());
    client.pipe(backend);
    backend.pipe(client);
  }

  async #backend(client: Socket): Promise<Socket | undefined> {
    const { clock, waitMs = defaultWaitMs } = this.#options;
    const untilMs = clock.monotonicMs() + waitMs;
    const first = await this.#dial();
    if (first || this.#waiting >= waitingMax) return first;
    this.#waiting += 1;
    try {
      while (!client.destroyed && clock.monotonicMs() < untilMs) {
        await sleep(clock, retryMs);
        const backend = await this.#dial();
        if (backend) return backend;
      }
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Tries every backend once, beginning with the next in turn. */
  async #dial(): Promise<Socket | undefined> {
    const backends = this.#options.backends();
    const from = this.#turn++;
    for (let tried = 0; tried < backends.length; tried++) {
      const socket = await this.#connected(backends[(from + tried) % backends.length]!);
      if (socket) return socket;
    }
    return undefined;
  }

  #connected({ host, port }: Backend): Promise<Socket | undefined> {
    const { clock, connectTimeoutMs = 2_000 } = this.#options;
    return new Promise((resolve) => {
      const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
      const fail = (): void => {
        timer.cancel();
        socket.destroy();
        resolve(undefined);
      };
      const timer = clock.after(connectTimeoutMs, fail);
      socket.once('error', fail);
      socket.once('connect', () => {
        timer.cancel();
        socket.off('error', fail);
        resolve(socket);
      });
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
