/** Where the listener is, connections to it, and the client that behaves. */

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

/** In this time the canary is answered, whatever else goes on; the machine may be busy with other things too. */
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

  /** Without a farewell: the server sees a connection that was reset. */
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
    // Whatever the server does to a connection that is misused is its right.
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

  /** Those that were left half open included. */
  close(): void {
    this.#agent.destroy();
    for (const one of this.#open) one.destroy();
  }
}
