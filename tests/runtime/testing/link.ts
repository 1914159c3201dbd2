/** A TCP connection between an operator and its server that a test can cut, so that no part of the client is replaced. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { ClusterConfig } from '@hangar/client';

export class Link implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Connects to the server of the config; `through` is the config of the link. */
  static async open(config: ClusterConfig): Promise<{ link: Link; through: ClusterConfig }> {
    const { hostname, port } = new URL(config.server);
    const server = createServer();
    const link = new Link(server);
    server.on('connection', (near) => link.#join(near, () => connect(Number(port), hostname)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const own = (server.address() as AddressInfo).port;
    return { link, through: { ...config, server: `https://127.0.0.1:${own}` } };
  }

  /** Breaks open connections, and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  heal(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await once(this.#server.close(), 'close');
  }

  #join(near: Socket, dial: () => Socket): void {
    if (this.#isCut) return void near.destroy();
    const far = dial();
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => {});
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
