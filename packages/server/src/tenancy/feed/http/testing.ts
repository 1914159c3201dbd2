/** Feed client over HTTP for tests: parses the lines as documented in streams.ts, and shares no code with it. */

import assert from 'node:assert/strict';
import type { KubeObject } from '@hangar/api';
import { privilegedGroup } from '../../../auth/authorize.ts';
import { isStreaming } from '../../../http/message.ts';
import type { Sink } from '../../../http/message.ts';
import { tenants } from '../../../testing/tenancy-server.ts';
import type { TenancyServer, TenancyServerOptions } from '../../../testing/tenancy-server.ts';
import type { Data, Received, Sent } from '../../../testing/test-server.ts';
import type { FedChange, FeedListener } from '../contract.ts';
import { FeedRecorder } from '../testing.ts';

export const feedTarget = `${tenants}/*/feed`;

/** Sink that takes everything at once, unless `takesMore` is false. */
export class ReadingSink implements Sink {
  readonly #take: (chunk: Buffer) => void;
  readonly #onClose: (() => void)[] = [];
  #onDrain: (() => void) | undefined;
  takesMore = true;
  isClosed = false;
  wasCut = false;
  /** Total number of bytes written. */
  bytes = 0;
  chunks = 0;

  constructor(take: (chunk: Buffer) => void = () => undefined) {
    this.#take = take;
  }

  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.length;
    this.chunks++;
    this.#take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    return this.takesMore;
  }

  end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const callback of this.#onClose.splice(0)) callback();
  }

  abort(): void {
    this.wasCut = true;
    this.end();
  }

  drain(): void {
    this.takesMore = true;
    this.#onDrain?.();
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  onClose(callback: () => void): void {
    if (this.isClosed) callback();
    else this.#onClose.push(callback);
  }
}

/** Starts a stream. */
export async function openStream(server: TenancyServer, sink: Sink, sent: Sent = {}): Promise<void> {
  const { status, headers, body } = await server.answer('GET', feedTarget, sent);
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/x-ndjson');
  assert.ok(isStreaming(body));
  body.start(sink);
}

export class HttpFeed {
  readonly #server: TenancyServer;
  readonly #sent: Sent;
  readonly sink = new ReadingSink((chunk) => this.#read(chunk));
  #listener!: FeedListener;
  #rest = '';
  #head: Data;
  session: string | undefined;
  /** All first lines. */
  readonly heads: Data[] = [];

  constructor(server: TenancyServer, sent: Sent = {}) {
    this.#server = server;
    this.#sent = sent;
  }

  async follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    await openStream(this.#server, this.sink, this.#sent);
    signal.addEventListener('abort', () => this.sink.end(), { once: true });
    if (signal.aborted) this.sink.end();
    await new Promise<void>((resolve) => this.sink.onClose(resolve));
  }

  post(retell: readonly unknown[], sent: Sent = {}): Promise<Received> {
    return this.#server.request('POST', feedTarget, { body: { session: this.session, retell }, ...sent });
  }

  #read(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const head = this.#head;
      this.#head = undefined;
      if (head) this.#second(head, line);
      else this.#first(JSON.parse(line));
    }
  }

  #first(head: Data): void {
    this.heads.push(head);
    if (this.session === undefined) {
      assert.equal(head.type, 'hello');
      this.session = head.session;
      return;
    }
    if (head.type === 'put' || head.type === 'delete' || head.type === 'tenant') this.#head = head;
    else if (head.type === 'synced') this.#listener.synced();
    else if (head.type === 'reset') this.#listener.reset();
    else if (head.type === 'told') this.#listener.clusterTold(head.cluster);
    else if (head.type === 'gone') this.#listener.clusterGone(head.cluster);
    else assert.equal(head.type, 'ping');
  }

  #second({ type, ...head }: Data, line: string): void {
    if (type === 'tenant') return this.#listener.clusterChanged(head.cluster, JSON.parse(line) as KubeObject);
    if (!this.#listener.wants(head)) return;
    const change: FedChange = { type, ...head, bytes: Buffer.from(line), object: () => JSON.parse(line) as KubeObject };
    this.#listener.changed(change);
  }
}

/** Returns a recorder that has received the initial state. */
export async function followed(server: TenancyServer, feed = new HttpFeed(server)): Promise<FeedRecorder<HttpFeed>> {
  const recorder = new FeedRecorder(feed);
  await recorder.until(() => recorder.told.includes('synced'));
  return recorder;
}

const user = (name: string, groups: string[] = []) => ({ token: name, user: name, uid: '', groups });

/** `reader` and `other` may follow and retell, `looker` may only follow. The policy also allows anonymous users. */
export const readers: TenancyServerOptions = {
  tokens: [user('reader'), user('other'), user('somebody'), user('looker')],
  authorizers: [
    privilegedGroup,
    {
      authorize: ({ name }, info) => {
        if (!info.isResource || info.resource !== 'tenants' || info.subresource !== 'feed') return 'no opinion';
        if (info.name !== '*' || info.group !== 'tenancy.hangar.dev') return 'no opinion';
        if (name === 'looker') return info.verb === 'get' ? 'allow' : 'no opinion';
        return name === 'reader' || name === 'other' || name === 'system:anonymous' ? 'allow' : 'no opinion';
      },
    },
  ],
  authentication: () => ({ anonymous: () => true }),
};
