/** Sends requests over TLS: well-formed ones by Node's own clients, any bytes by a socket. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { KeyPair } from '@hangar/pki';

export interface Identity {
  readonly token?: string;
  readonly certificate?: KeyPair;
}

export interface Sent {
  /** An object becomes JSON. */
  readonly body?: object | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly contentType?: string;
}

// Attacks look into answers of every kind.
// eslint-disable-next-line typescript/no-explicit-any
export type Data = any;

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Parsed; undefined if it is not JSON. */
  readonly data: Data;
}

export const patienceMs = 10_000;

export class Client {
  readonly #port: number;
  readonly #identity: Identity;
  readonly #tls: ConnectionOptions;
  readonly #agent: Agent;
  #session: ClientHttp2Session | undefined;

  constructor(port: number, ca: string, identity: Identity) {
    this.#port = port;
    this.#identity = identity;
    const { certificate } = identity;
    this.#tls = { ca, ...(certificate ? { key: certificate.key, cert: certificate.certificate } : {}) };
    this.#agent = new Agent({ ...this.#tls, keepAlive: true, maxSockets: 4 });
  }

  /** Over HTTP/1.1. The path is sent unchanged. */
  request(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const bytes = bytesOf(sent.body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        {
          host: '127.0.0.1',
          port: this.#port,
          method,
          path,
          agent: this.#agent,
          headers: { ...this.#headers(sent), 'content-length': bytes.length },
          timeout: patienceMs,
        },
        (response) => {
          response.toArray().then((chunks: Buffer[]) => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode!, headers: response.headers, text, data: parsed(text) });
          }, reject);
        },
      );
      request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path.slice(0, 200)}`)));
      request.on('error', reject);
      request.end(bytes);
    });
  }

  /** Over HTTP/2. The path is sent unchanged. */
  async request2(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const stream = this.#http2().request(
      { ':method': method, ':path': path, ...this.#headers(sent) } as OutgoingHttpHeaders,
      { endStream: sent.body === undefined },
    );
    stream.setTimeout(patienceMs, () => stream.close(constants.NGHTTP2_CANCEL));
    if (sent.body !== undefined) stream.end(bytesOf(sent.body));
    const [headers] = (await once(stream, 'response')) as [Record<string, string>];
    const text = Buffer.concat(await stream.toArray()).toString();
    return { status: Number(headers[':status']), headers, text, data: parsed(text) };
  }

  async expect(status: number, method: string, path: string, sent: Sent = {}): Promise<Data> {
    const received = await this.request(method, path, sent);
    assert.equal(received.status, status, `${method} ${path.slice(0, 300)}: ${received.text.slice(0, 1_000)}`);
    return received.data;
  }

  get = (path: string): Promise<Data> => this.expect(200, 'GET', path);
  create = (path: string, body: object): Promise<Data> => this.expect(201, 'POST', path, { body });
  merge = (path: string, body: object): Promise<Data> =>
    this.expect(200, 'PATCH', path, { body, contentType: mergePatch });

  /** Returns the user that the server authenticates; undefined: none. */
  async whoAmI(headers: Sent['headers'] = {}): Promise<Data> {
    const { status, data } = await this.request('POST', selfReviews, { body: {}, headers });
    return status === 201 ? data.status.userInfo : undefined;
  }

  /** Returns the answer to these bytes until the server closes the connection, or until `until` is true. */
  async raw(bytes: string | Uint8Array, options: { readonly until?: (text: string) => boolean } = {}): Promise<string> {
    const socket = await this.socket();
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.write(bytes);
    try {
      await new Promise<void>((resolve, reject) => {
        const isEnough = options.until ?? (() => false);
        socket.on('data', () => isEnough(text) && resolve());
        socket.on('close', () => resolve());
        socket.setTimeout(patienceMs, () =>
          reject(new Error(`the connection stays open after ${JSON.stringify(text)}`)),
        );
      });
      return text;
    } finally {
      socket.destroy();
    }
  }

  /** Opens a socket without a protocol. */
  async socket(alpn = 'http/1.1'): Promise<TLSSocket> {
    const socket = connect({ ...this.#tls, host: '127.0.0.1', port: this.#port, ALPNProtocols: [alpn] });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  }

  /** The header that authenticates this client, as in HTTP/1.1. */
  get credentials(): string {
    const { token } = this.#identity;
    return token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  }

  close(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  #headers({ body, headers, contentType = 'application/json' }: Sent): Record<string, string | string[]> {
    const { token } = this.#identity;
    return {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...headers,
    };
  }

  #http2(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    this.#session = connectHttp2(`https://127.0.0.1:${this.#port}`, this.#tls);
    this.#session.on('error', () => {});
    return this.#session;
  }
}

export const mergePatch = 'application/merge-patch+json';
export const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

function bytesOf(body: Sent['body']): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body));
}

function parsed(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
