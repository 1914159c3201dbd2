/**
 * A port whose connections all belong to one tenant: the port selects the tenant, and neither the path, nor the Host header, nor the TLS
 * server name can select another one. It shares the HTTP servers and the limits of the listener.
 *
 * An idle port is one listening socket. The TLS server exists while the port has connections.
 */

import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer, TLSSocket, TlsOptions } from 'node:tls';
import type { Clock } from '@hangar/core';
import { refusePlainHttp } from './plain-http.ts';
import type { ServerCertificate } from './server-names.ts';

export interface OwnedPortOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Path of the tenant. */
  readonly owner: string;
  /**
   * Returns the certificate for a new connection, and the same object for as long as it is unchanged. The connection is closed if it
   * rejects.
   */
  readonly certificate: () => Promise<ServerCertificate>;
}

/** The parts of the listener that the port uses. */
export interface SharedListener {
  readonly host: string;
  readonly clock: Clock;
  readonly handshakeTimeoutMs: number;
  /** TLS options other than key and certificate; another object after a change. */
  readonly tls: () => TlsOptions;
  /** Serves HTTP on a connection. */
  readonly accept: (socket: TLSSocket, owner: string) => void;
  readonly opened: (socket: Socket) => void;
  readonly onError?: ((error: Error) => void) | undefined;
}

interface Serving {
  readonly server: TlsServer;
  certificate: ServerCertificate;
  options: TlsOptions;
}

export class OwnedPort {
  readonly #shared: SharedListener;
  readonly #options: OwnedPortOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #serving: Serving | undefined;

  private constructor(shared: SharedListener, options: OwnedPortOptions) {
    this.#shared = shared;
    this.#options = options;
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => void this.#connected(socket));
  }

  /** Rejects if the port is in use. */
  static async open(shared: SharedListener, options: OwnedPortOptions): Promise<OwnedPort> {
    const port = new OwnedPort(shared, options);
    await port.#listen();
    return port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get isOpen(): boolean {
    return this.#server.listening;
  }

  /** Stops accepting connections. Resolves when all connections have ended. */
  stop(): Promise<void> {
    return new Promise((resolve) => void this.#server.close(() => resolve()));
  }

  /** Closes the port and all its connections. Resolves when the port is free. */
  close(): Promise<void> {
    const stopped = this.stop();
    for (const socket of this.#sockets) socket.destroy();
    return stopped;
  }

  #listen(): Promise<void> {
    const { host } = this.#shared;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port: this.#options.port, backlog: 1024 }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  async #connected(socket: Socket): Promise<void> {
    const { clock, handshakeTimeoutMs, opened, onError } = this.#shared;
    this.#sockets.add(socket);
    opened(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#serving = undefined;
    });
    const late = clock.after(handshakeTimeoutMs, () => socket.destroy());
    try {
      const certificate = await this.#options.certificate();
      if (!socket.destroyed) this.#serverWith(certificate).emit('connection', socket);
    } catch (error) {
      onError?.(error as Error);
      socket.destroy();
    } finally {
      late.cancel();
    }
  }

  #serverWith(certificate: ServerCertificate): TlsServer {
    const options = this.#shared.tls();
    const identity = { key: certificate.key, cert: certificate.certificate };
    let serving = this.#serving;
    if (!serving) {
      serving = { server: this.#tlsServer({ ...options, ...identity }), certificate, options };
      this.#serving = serving;
    } else if (serving.certificate !== certificate || serving.options !== options) {
      serving.server.setSecureContext({ ...options, ...identity });
      serving.certificate = certificate;
      serving.options = options;
    }
    return serving.server;
  }

  #tlsServer(options: TlsOptions): TlsServer {
    const server = createTlsServer(options);
    server.on('secureConnection', (socket) => this.#shared.accept(socket, this.#options.owner));
    refusePlainHttp(server);
    return server;
  }
}
