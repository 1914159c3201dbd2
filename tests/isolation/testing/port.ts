/** The world behind a real port: TLS with certificates for hosts of tenants, HTTP/1.1 with any bytes, HTTP/2 with any headers. */

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { createAuthority } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { serving, showing, TestPort } from '../../../packages/server/src/http/testing/test-port.ts';
import type { Handler } from '../../../packages/server/src/http/message.ts';
import { advertisedTenantAuthority } from '../../../packages/server/src/tenancy/keys/advertised-authority.ts';
import { servingCertificates } from '../../../packages/server/src/tenancy/keys/serving-certificates.ts';
import { pkiWorld } from './world.ts';
import type { World } from './world.ts';

export { serving, showing };

/** CA of the management plane's users. */
export const platformCa: KeyPair = createAuthority('hangar-ca', 10, pkiWorld);

const patienceMs = 10_000;

export class Port implements AsyncDisposable {
  readonly #port: TestPort;
  readonly #open: (TLSSocket | ClientHttp2Session)[] = [];
  /** Requests and the status of their answers. */
  readonly answered: { readonly target: string; readonly status: number }[];
  /** Of the last connection. */
  session: Buffer | undefined;

  private constructor(port: TestPort, answered: Port['answered']) {
    this.#port = port;
    this.answered = answered;
  }

  static async open({ server }: World): Promise<Port> {
    const issue = servingCertificates({ authority: () => serving, ...pkiWorld });
    const answered: Port['answered'] = [];
    const handler: Handler = async (request) => {
      const answer = await server.handler(request);
      answered.push({ target: request.target, status: answer.status });
      return answer;
    };
    const port = await TestPort.open(handler, {
      clientCas: platformCa.certificate,
      advertisedCas: advertisedTenantAuthority,
      serverCertificate: (name) => (server.tenancy.tenants.findByHost(name) ? issue(name) : undefined),
    });
    return new Port(port, answered);
  }

  get number(): number {
    return this.#port.listener.port;
  }

  /** Opens a socket without a protocol. By its address, without a server name by default. */
  async socket(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({
      host: '127.0.0.1',
      port: this.number,
      ca: serving.certificate,
      ALPNProtocols: ['http/1.1'],
      ...options,
    });
    socket.on('error', () => {});
    socket.on('session', (session: Buffer) => (this.session = session));
    this.#open.push(socket);
    await once(socket, 'secureConnect');
    return socket;
  }

  /** Returns all data until the server closes the connection, or until this many answers. */
  async raw(bytes: string, options: ConnectionOptions = {}, answers = Infinity): Promise<string> {
    const socket = await this.socket(options);
    let text = '';
    const enough = new Promise<void>((resolve, reject) => {
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (statusesIn(text).length >= answers && text.endsWith('\n')) resolve();
      });
      socket.on('close', () => resolve());
      socket.setTimeout(patienceMs, () => reject(new Error(`the connection stays open after ${JSON.stringify(text)}`)));
    });
    socket.write(bytes);
    await enough.finally(() => socket.destroy());
    return text;
  }

  http2(options: ConnectionOptions = {}): ClientHttp2Session {
    const session = connectHttp2(`https://127.0.0.1:${this.number}`, { ca: serving.certificate, ...options });
    session.on('error', () => {});
    this.#open.push(session);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open) one.destroy();
    await this.#port[Symbol.asyncDispose]();
  }
}

export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

export interface Http2Answer {
  /** 0: the stream was reset. */
  readonly status: number;
  readonly text: string;
}

/** Sends one request on an HTTP/2 connection. */
export function request2(session: ClientHttp2Session, headers: Record<string, string>): Promise<Http2Answer> {
  return new Promise((resolve) => {
    const stream = session.request({ ':method': 'GET', ...headers }, { endStream: true });
    let status = 0;
    let text = '';
    stream.on('response', (answered) => (status = Number(answered[':status'])));
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', () => resolve({ status: 0, text }));
    stream.on('close', () => resolve({ status, text }));
    stream.setTimeout(patienceMs, () => stream.destroy());
  });
}
