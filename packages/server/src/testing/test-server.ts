/**
 * A complete API server for tests of requests, in process: with any headers and peer, with watches that are read frame by frame, and with a
 * clock that the test controls.
 */

import assert from 'node:assert/strict';
import { seededRandom, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { openMemoryStore } from '@hangar/store';
import type { MemoryStoreOptions, Store } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';
import { isStreaming } from '../http/message.ts';
import type { Answer, Headers, Peer, ServerRequest, Sink } from '../http/message.ts';
import { administrator } from './authentication.ts';
import { openServer, serverRequest } from './open-server.ts';
import type { OpenServer, ServerOptions } from './open-server.ts';

export interface TestServerOptions extends ServerOptions {
  /** Absent: the system clock. A `Scheduler` is advanced by the requests themselves, and by the test. */
  readonly clock?: Clock;
  readonly store?: Omit<MemoryStoreOptions, 'clock'>;
  /** Wraps the store of the server. */
  readonly wrapStore?: (store: Store) => Store;
}

export interface Sent {
  /** An object is encoded as JSON. */
  readonly body?: object | string | Uint8Array;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Null: no credentials. */
  readonly token?: string | null;
  readonly peer?: Peer;
}

/** Uses the token of the administrator, unless another one is given. */
export function sentRequest(method: string, target: string, sent: Sent = {}): ServerRequest {
  const { body, token = administrator.token, accept = 'application/json' } = sent;
  const headers = new Map<string, string[]>([['accept', [accept]]]);
  if (token !== null) headers.set('authorization', [`Bearer ${token}`]);
  if (body !== undefined) headers.set('content-type', [sent.contentType ?? 'application/json']);
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name.toLowerCase(), [value].flat());
  return serverRequest({ method, target, headers, body: bytesOf(body), ...(sent.peer && { peer: sent.peer }) });
}

function bytesOf(body: Sent['body']): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

// Tests look into answers of every kind.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Data = any;

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  /** Parsed; undefined if it is not JSON. */
  readonly data: Data;
}

/** A clock that advances only when a caller waits for it. */
export const virtualClock = (): Scheduler => new Scheduler(seededRandom(1));

export class TestServer implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly store: Store;
  readonly clock: Clock;
  /** Internal errors of the server: `request` fails the test if there is one. */
  readonly problems: readonly Error[];
  readonly #server: OpenServer;

  private constructor(server: OpenServer) {
    this.plane = server.plane;
    this.store = server.plane.store;
    this.clock = server.plane.clock;
    this.problems = server.problems;
    this.#server = server;
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const clock = options.clock ?? systemClock;
    const opening = (async () => {
      const opened = await openMemoryStore({ ...options.store, clock });
      const store = options.wrapStore?.(opened) ?? opened;
      return new TestServer(await openServer(store, options));
    })();
    return settled(clock, opening);
  }

  async answer(method: string, target: string, sent: Sent = {}): Promise<Answer> {
    const answer = await settled(this.clock, this.#server.server.handle(sentRequest(method, target, sent)));
    if (this.problems.length > 0) throw this.problems[0]!;
    return answer;
  }

  async request(method: string, target: string, sent: Sent = {}): Promise<Received> {
    const { status, headers, body } = await this.answer(method, target, sent);
    assert.ok(!isStreaming(body), `${method} ${target} does not end`);
    const bytes = Buffer.concat(Array.isArray(body) ? (body as Uint8Array[]) : [body as Uint8Array]);
    const text = bytes.toString();
    return { status, headers, bytes, text, data: parsed(text) };
  }

  /** Returns the body of a response that must have this status. */
  async expect(status: number, method: string, target: string, sent: Sent = {}): Promise<Data> {
    const received = await this.request(method, target, sent);
    assert.equal(received.status, status, `${method} ${target}: ${received.text}`);
    return received.data;
  }

  get = (target: string): Promise<Data> => this.expect(200, 'GET', target);
  create = (target: string, body: object): Promise<Data> => this.expect(201, 'POST', target, { body });
  update = (target: string, body: object): Promise<Data> => this.expect(200, 'PUT', target, { body });
  merge = (target: string, body: object): Promise<Data> =>
    this.expect(200, 'PATCH', target, { body, contentType: 'application/merge-patch+json' });
  remove = (target: string, body?: object): Promise<Data> =>
    this.expect(200, 'DELETE', target, body === undefined ? {} : { body });

  /** Starts a watch; frames are kept until they are taken. */
  async watch(target: string, sent: Sent & { readonly sink?: TestSink } = {}): Promise<TestWatch> {
    const { status, headers, body } = await this.answer('GET', target, sent);
    assert.equal(status, 200, target);
    assert.ok(isStreaming(body), `${target} is no watch`);
    const sink = sent.sink ?? new TestSink();
    body.start(sink);
    return new TestWatch(sink, headers, this.clock);
  }

  /** For operations on the store itself. */
  run = <T>(promise: Promise<T>): Promise<T> => settled(this.clock, promise);

  /** Waits for asynchronous changes. */
  async until(what: string, check: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 2_000; attempt++) {
      if (await check()) return;
      if (this.clock instanceof Scheduler) await this.clock.advance(10);
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.fail(`in vain: ${what}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await settled(this.clock, this.store.close());
  }
}

/** With a virtual clock, timers fire only while it is advanced. */
const settled = <T>(clock: Clock, promise: Promise<T>): Promise<T> =>
  clock instanceof Scheduler ? clock.run(promise) : promise;

function parsed(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sink of a watch; the test controls backpressure. */
export class TestSink implements Sink {
  readonly chunks: Buffer[] = [];
  takesMore = true;
  isEnded = false;
  #onDrain: (() => void)[] = [];
  #onClose: (() => void)[] = [];
  #onChange: (() => void)[] = [];

  write(chunk: Uint8Array): boolean {
    this.chunks.push(Buffer.from(chunk));
    this.#changed();
    return this.takesMore;
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    for (const callback of this.#onClose.splice(0)) callback();
    this.#changed();
  }

  onDrain(callback: () => void): void {
    this.#onDrain.push(callback);
  }

  onClose(callback: () => void): void {
    if (this.isEnded) callback();
    else this.#onClose.push(callback);
  }

  drain(): void {
    this.takesMore = true;
    for (const callback of this.#onDrain) callback();
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #changed(): void {
    for (const callback of this.#onChange.splice(0)) callback();
  }
}

export class TestWatch {
  readonly sink: TestSink;
  readonly headers: Headers;
  readonly #clock: Clock;
  #taken = 0;

  constructor(sink: TestSink, headers: Headers, clock: Clock) {
    this.sink = sink;
    this.headers = headers;
    this.#clock = clock;
  }

  /** Returns the next frames as sent. */
  async frames(count: number): Promise<Buffer[]> {
    while (this.sink.chunks.length < this.#taken + count) {
      assert.ok(!this.sink.isEnded, `the watch ended after ${this.sink.chunks.length} frames`);
      await within(this.#clock, this.sink.changed());
    }
    const frames = this.sink.chunks.slice(this.#taken, this.#taken + count);
    this.#taken += count;
    return frames;
  }

  /** Returns the next events of a JSON watch. */
  async events(count: number): Promise<{ type: string; object: Data }[]> {
    return (await this.frames(count)).map((frame) => JSON.parse(frame.toString()));
  }

  /** Returns the next events as `ADDED a`, with the object's name. */
  async told(count: number): Promise<string[]> {
    return (await this.events(count)).map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim());
  }

  /** Number of frames that were not taken yet. */
  get waiting(): number {
    return this.sink.chunks.length - this.#taken;
  }

  async ended(): Promise<void> {
    while (!this.sink.isEnded) await within(this.#clock, this.sink.changed());
  }

  close(): void {
    this.sink.end();
  }
}

/** Virtual time does not advance while a test waits for a frame: due frames arrive without it. */
async function within(clock: Clock, change: Promise<void>): Promise<void> {
  if (!(clock instanceof Scheduler)) {
    const stop = new AbortController();
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new Error('no frame came')), 5_000);
      stop.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    await Promise.race([change, late]).finally(() => stop.abort());
    return;
  }
  let hasChanged = false;
  void change.then(() => (hasChanged = true));
  for (let turn = 0; !hasChanged; turn++) {
    assert.ok(turn < 1_000, 'no frame came');
    await clock.advance(0);
  }
}

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: object = {},
): object => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, ...metadata },
  data,
});

export const configMaps = '/api/v1/namespaces/default/configmaps';

export interface DefinitionOptions {
  readonly plural?: string;
  readonly kind?: string;
  readonly group?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly spec?: object;
  readonly versions?: readonly object[];
  readonly names?: object;
}

/** Returns a definition with a `spec` of `size` (an integer), unless another schema is given. */
export function definition(options: DefinitionOptions = {}): Data {
  const { plural = 'widgets', kind = 'Widget', group = 'example.com', scope = 'Namespaced' } = options;
  const properties = options.spec ?? { size: { type: 'integer' } };
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...options.names },
      versions: options.versions ?? [version('v1', properties)],
    },
  };
}

export const version = (name: string, properties: object, rest: object = {}): object => ({
  name,
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  },
  ...rest,
});

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const widgets = '/apis/example.com/v1/namespaces/default/widgets';

export const widget = (name: string, spec: object = {}, metadata: object = {}): Data => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { name, ...metadata },
  spec,
});
