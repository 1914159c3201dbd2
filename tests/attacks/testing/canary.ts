/** A server on loopback that must not be reached: it records every connection, even those that end in the handshake. */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';

const world = { clock: systemClock, random: systemRandom };

export class Canary implements AsyncDisposable {
  readonly port: number;
  /** PEM in base64. */
  readonly caBundle: string;
  connections = 0;
  /** Requested paths. */
  readonly asked: string[] = [];
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, authority: string) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.caBundle = Buffer.from(authority).toString('base64');
    server.on('connection', () => this.connections++);
    server.prependListener('request', (request) => this.asked.push(request.url ?? ''));
  }

  static async start(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Canary> {
    const authority = createAuthority('canary', 1, world);
    const hosts = ['127.0.0.1', '::1', '0.0.0.0', 'localhost', 'bait.mine.svc'];
    const { key, certificate } = issueCertificate(
      authority,
      { commonName: 'c', hosts, usage: 'server', days: 1 },
      world,
    );
    const server = createServer({ key, cert: certificate }, answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Canary(server, authority.certificate);
  }

  /** Takes over connections that request another protocol. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex) => void): void {
    this.#server.on('upgrade', take);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
