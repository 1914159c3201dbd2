/** A control plane as one user sees it: requests and watches over TLS, by its kubeconfig. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { parseYaml } from '@hangar/api';

// Tests look into answers of every kind.
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = any;

export interface Credentials {
  /** `https://host:port`, with a path for a tenant. */
  readonly url: string;
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly token?: string;
}

export interface Asked {
  readonly body?: object | Uint8Array;
  readonly contentType?: string;
}

export interface Got {
  readonly status: number;
  readonly bytes: Buffer;
  /** Parsed; undefined if it is not JSON. */
  readonly data: Data;
}

export const mergePatch = 'application/merge-patch+json';

const answerTimeoutMs = 60_000;

export class Access implements Disposable {
  readonly credentials: Credentials;
  readonly #agent: Agent;

  constructor(credentials: Credentials) {
    this.credentials = credentials;
    const { ca, cert, key } = credentials;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 8, ca, cert, key });
  }

  static async of(kubeconfig: string): Promise<Access> {
    return Access.from(await readFile(kubeconfig, 'utf8'));
  }

  /** Parses the text of a kubeconfig. */
  static from(text: string): Access {
    const { clusters, users } = parseYaml(text).value as Data;
    const { cluster } = clusters[0];
    const { user } = users[0];
    return new Access({
      url: cluster.server,
      ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
      cert: Buffer.from(user['client-certificate-data'], 'base64'),
      key: Buffer.from(user['client-key-data'], 'base64'),
    });
  }

  /** The same user at another address, or another user here. */
  as(changes: Partial<Credentials>): Access {
    return new Access({ ...this.credentials, ...changes });
  }

  /** Without the certificate. */
  withToken(token: string): Access {
    const { url, ca } = this.credentials;
    return new Access({ url, token, ...(ca ? { ca } : {}) });
  }

  async ask(method: string, target: string, { body, contentType = 'application/json' }: Asked = {}): Promise<Got> {
    const answer = await this.#begin(method, target, body, contentType);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return { status: answer.statusCode ?? 0, bytes, data: parsed(bytes) };
  }

  async expect(status: number, method: string, target: string, asked: Asked = {}): Promise<Data> {
    const got = await this.ask(method, target, asked);
    assert.equal(got.status, status, `${method} ${target}: ${got.status} ${got.bytes.toString().slice(0, 500)}`);
    return got.data;
  }

  get = (target: string): Promise<Data> => this.expect(200, 'GET', target);
  create = (target: string, body: object): Promise<Data> => this.expect(201, 'POST', target, { body });
  merge = (target: string, body: object): Promise<Data> =>
    this.expect(200, 'PATCH', target, { body, contentType: mergePatch });
  remove = (target: string): Promise<Data> => this.expect(200, 'DELETE', target);

  /** Yields events until the caller or the server stops. */
  async *watch(target: string): AsyncGenerator<{ type: string; object: Data }, void, void> {
    const answer = await this.#begin('GET', target, undefined, '');
    assert.equal(answer.statusCode, 200, target);
    try {
      let rest = '';
      for await (const chunk of answer) {
        const lines = (rest + (chunk as Buffer).toString()).split('\n');
        rest = lines.pop()!;
        for (const line of lines) yield JSON.parse(line);
      }
    } finally {
      answer.destroy();
    }
  }

  /** Starts a request whose body the caller writes. */
  upload(method: string, target: string, length: number): ClientRequest {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': length };
    const outgoing = request(this.credentials.url + target, { method, agent: this.#agent, headers });
    return outgoing.on('error', () => {});
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #begin(method: string, target: string, body: Asked['body'], contentType: string): Promise<IncomingMessage> {
    const { url, token } = this.credentials;
    const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    const outgoing = request(url + target, {
      method,
      agent: this.#agent,
      timeout: answerTimeoutMs,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(bytes ? { 'content-type': contentType, 'content-length': bytes.length } : {}),
      },
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', () => {});
    outgoing.end(bytes);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  }
}

function parsed(bytes: Buffer): Data {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
