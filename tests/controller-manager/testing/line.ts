/**
 * A line to a server that a test can cut like a network: no data passes, and no error is reported. Data in transit is held back;
 * connections stay open and new ones are accepted, until their owners give up.
 */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export class Line implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** To a port of this machine. */
  static async open(port: number): Promise<Line> {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: false });
    const line = new Line(server);
    server.on('connection', (near) => line.#join(near, connect(port, '127.0.0.1')));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return line;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server.close(), 'close');
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('data', (bytes) => {
        if (!other.write(bytes)) one.pause();
      });
      other.on('drain', () => {
        if (!this.#isCut) one.resume();
      });
      one.on('end', () => other.end());
      one.on('error', () => {});
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      if (this.#isCut) one.pause();
      else one.resume();
    }
  }
}
