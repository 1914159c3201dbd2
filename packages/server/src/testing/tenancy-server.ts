/**
 * A server with tenants, in process: the management plane, the router, and every control plane behind it. Requests select a control plane
 * by path or host, as on the wire.
 */

import assert from 'node:assert/strict';
import { systemClock, systemRandom } from '@hangar/core';
import type { Store } from '@hangar/store';
import { openMemoryStore } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';
import type { Answer, Handler, Headers, Peer } from '../http/message.ts';
import { isStreaming } from '../http/message.ts';
import { Outbound } from '../outbound/index.ts';
import { insistOnRoot, Tenancy } from '../tenancy/tenancy.ts';
import type { TenancyOptions } from '../tenancy/tenancy.ts';
import { openServer } from './open-server.ts';
import type { ServerOptions } from './open-server.ts';
import { sentRequest, TestSink, TestWatch } from './test-server.ts';
import type { Data, Received, Sent } from './test-server.ts';

export interface TenancyServerOptions extends ServerOptions {
  /** Absent: an in-memory store, closed with the server. */
  readonly store?: Store;
  readonly tenancy?: Partial<TenancyOptions>;
}

export const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';

export class TenancyServer implements AsyncDisposable {
  readonly root: ControlPlane;
  readonly store: Store;
  readonly tenancy: Tenancy;
  readonly problems: readonly Error[];
  readonly handler: Handler;
  readonly #close: () => Promise<void>;

  private constructor(
    parts: Pick<TenancyServer, 'root' | 'store' | 'tenancy' | 'problems' | 'handler'>,
    close: () => Promise<void>,
  ) {
    this.root = parts.root;
    this.store = parts.store;
    this.tenancy = parts.tenancy;
    this.problems = parts.problems;
    this.handler = parts.handler;
    this.#close = close;
  }

  static async open(options: TenancyServerOptions = {}): Promise<TenancyServer> {
    const store = options.store ?? (await openMemoryStore(options.clock ? { clock: options.clock } : {}));
    const { plane, server, problems, close } = await openServer(store, {
      ...options,
      admits: (_info, request) => insistOnRoot(request),
      strangerRefusal: (request) => tenancy.misplaced(request),
    });
    const outbound = options.outbound ?? new Outbound({});
    const tenancy = new Tenancy({
      root: plane,
      store,
      storePrefix: '/registry',
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      outbound,
      admission: options.admission ?? { disabled: ['ServiceAccount'] },
      bootstrap: () => ({
        serviceAddress: '10.0.0.1',
        serviceCidr: '10.0.0.0/24',
        // No program listens there. At the default port, the server of another test can answer.
        endpoint: { address: '127.0.0.1', port: 1 },
      }),
      ownHosts: () => ['localhost'],
      rootGuard: () => server.guard,
      url: (path) => `https://127.0.0.1:6443/clusters/${path}/control-plane`,
      servingCa: () => '',
      onError: (error) => void problems.push(error),
      ...(options.auditor ? { auditor: options.auditor } : {}),
      ...options.tenancy,
    });
    await tenancy.start();
    const handler = tenancy.handler((request) => server.handle(request));
    return new TenancyServer({ root: plane, store, tenancy, problems, handler }, async () => {
      await tenancy.close();
      close();
      if (!options.outbound) outbound.close();
      if (!options.store) await store.close();
    });
  }

  /** Uses the token of the administrator, unless another one is given. */
  answer(method: string, target: string, sent: Sent = {}): Promise<Answer> {
    return this.handler(sentRequest(method, target, sent));
  }

  async request(method: string, target: string, sent: Sent = {}): Promise<Received> {
    const { status, headers, body } = await this.answer(method, target, sent);
    assert.deepEqual(this.problems, [], target);
    assert.ok(!isStreaming(body), `${target} is a stream`);
    const bytes = Array.isArray(body) ? Buffer.concat(body) : Buffer.from(body as Uint8Array);
    const text = bytes.toString();
    return { status, headers: headers as Headers, bytes, text, data: parsed(text) };
  }

  async expect(status: number, method: string, target: string, sent: Sent = {}): Promise<Data> {
    const received = await this.request(method, target, sent);
    assert.equal(received.status, status, `${method} ${target}: ${received.text}`);
    return received.data;
  }

  async watch(target: string, sent: Sent = {}): Promise<TestWatch> {
    const { status, headers, body } = await this.answer('GET', target, sent);
    assert.equal(status, 200, target);
    assert.ok(isStreaming(body), `${target} is no watch`);
    const sink = new TestSink();
    body.start(sink);
    return new TestWatch(sink, headers, systemClock);
  }

  /** Creates a ControlPlane and returns its path. */
  async make(name: string, spec: object = {}): Promise<string> {
    await this.expect(201, 'POST', tenants, { body: tenant(name, spec) });
    return planePath(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

export const planePath = (name: string): string => `/clusters/${name}/control-plane`;

export const tenant = (name: string, spec: object = {}): object => ({
  kind: 'Tenant',
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  metadata: { name },
  spec,
});

/** A connection without a certificate. */
export const anonymousPeer: Peer = { address: '127.0.0.1', certificate: undefined };

function parsed(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
