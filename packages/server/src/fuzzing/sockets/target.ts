/** Address of the listener, connections to it, and the well-behaved client. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, ClientSessionOptions } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';

export interface TargetOptions {
  readonly port: number;
  readonly token: string;
  readonly authority: string;
}

/** Timeout of the canary request under any load, including other processes of the machine. */
const canaryTimeoutMs = 10_000;

export class Target {
  readonly authorization: string;
  readonly #options: TargetOptions;
  readonly #agent: Agent;
  readonly #below = new WeakMap<TLSSocket, Socket>();
  readonly #open = new Set<Socket | ClientHttp2Session>();

  constructor(options: TargetOptions) {
    this.#options = options;
    this.authorization = `Bearer ${options.token}`;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, ca: options.authority });
  }

  tcp(): Socket {
    return this.#kept(connectTcp(this.#options.port, '127.0.0.1'));
  }

  async tls(protocol: 'http/1.1' | 'h2'): Promise<TLSSocket> {
    const below = this.tcp();
    const { authority } = this.#options;
    const socket = connectTls({ socket: below, host: '127.0.0.1', ca: authority, ALPNProtocols: [protocol] });
    this.#below.set(this.#kept(socket), below);
    await once(socket, 'secureConnect');
    return socket;
  }

  /** Destroys the connection: the server sees a reset. */
  reset(socket: TLSSocket): void {
    this.#below.get(socket)?.resetAndDestroy();
  }

  async http2(options: ClientSessionOptions = {}): Promise<ClientHttp2Session> {
    const { port, authority } = this.#options;
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority, ...options });
    session.on('error', () => {});
    this.#open.add(session);
    session.once('close', () => this.#open.delete(session));
    await once(session, 'connect');
    return session;
  }

  #kept<T extends Socket>(socket: T): T {
    // The server may close a misused connection in any way.
    socket.on('error', () => {});
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }

  async canary(): Promise<void> {
    const startedMs = performance.now();
    const outgoing = request({
      host: '127.0.0.1',
      port: this.#options.port,
      path: '/api/v1/namespaces/default/configmaps/canary',
      agent: this.#agent,
      headers: { authorization: this.authorization },
      timeout: canaryTimeoutMs,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('the canary was not answered in time')));
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    assert.equal(answer.statusCode, 200, 'the canary');
    assert.ok(performance.now() - startedMs < canaryTimeoutMs, 'the canary was answered late');
  }

  /** Closes all connections, including half-open ones. */
  close(): void {
    this.#agent.destroy();
    for (const one of this.#open) one.destroy();
  }
}
