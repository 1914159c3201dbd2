/** Test fixture: an API server behind a tenant, which accepts the front proxy of the tenant. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { privilegedGroup } from '../../auth/authorize.ts';
import { FrontProxyAuthenticator } from '../../auth/front-proxy/front-proxy.ts';
import type { User } from '../../auth/user.ts';
import { isStreaming } from '../../http/message.ts';
import type { Answer, Headers, ServerRequest } from '../../http/message.ts';
import { serving, TestPort } from '../../http/testing/test-port.ts';
import { ApiServer } from '../../server.ts';
import { openTestPlane } from '../../testing/open-server.ts';
import { tenants } from '../../testing/tenancy-server.ts';
import type { TenancyServer } from '../../testing/tenancy-server.ts';
import type { Data, Sent } from '../../testing/test-server.ts';
import { Collected } from '../backup/testing.ts';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Common name of the verified client certificate. */
  readonly certificate: string | undefined;
  readonly body: string;
}

export interface RemoteApi extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  readonly seen: SeenRequest[];
  /** Tokens that the API server accepts. */
  readonly tokens: Map<string, User>;
  /** Answers instead of the API server, if it returns an answer. */
  intercept: ((request: ServerRequest) => Promise<Answer | undefined> | Answer | undefined) | undefined;
}

export async function startRemoteApi(server: TenancyServer, name: string): Promise<RemoteApi> {
  const { status } = await server.expect(201, 'POST', `${tenants}/${name}/keys`);
  const clientCas = status.frontProxyAuthority.certificate as string;
  const store = await openMemoryStore();
  const { plane, close } = await openTestPlane(store);
  const tokens = new Map<string, User>();
  const api = new ApiServer({
    plane,
    authenticators: [
      new FrontProxyAuthenticator(systemClock, {
        authorities: clientCas,
        allowedNames: ['front-proxy-client'],
        usernameHeaders: ['x-remote-user'],
        uidHeaders: ['x-remote-uid'],
        groupHeaders: ['x-remote-group'],
        extraHeaderPrefixes: ['x-remote-extra-'],
      }),
      {
        authenticateToken: (token: string) => {
          const user = tokens.get(token);
          return user && { user };
        },
      },
    ],
    authorizers: [privilegedGroup],
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1',
    onError: (error) => {
      throw error;
    },
  });
  const seen: SeenRequest[] = [];
  const remote: { intercept: RemoteApi['intercept'] } = { intercept: undefined };
  const port = await TestPort.open(
    async (request) => {
      const answer = await remote.intercept?.(request);
      const headers = Object.fromEntries(request.headerNames().map((one) => [one, request.headerValues(one)]));
      const certificate = request.peer.certificate?.commonName;
      const body = request.passing?.upgrade ? '' : Buffer.from(await request.body(1e6)).toString();
      seen.push({ method: request.method, target: request.target, headers, certificate, body });
      return answer ?? api.handle(new ReadRequest(request, body));
    },
    { clientCas, closeGraceMs: 0 },
  );
  const [url, ca] = [`https://127.0.0.1:${port.listener.port}`, serving.certificate];
  await server.expect(201, 'POST', `${tenants}/${name}/hold?id=fixture`);
  await server.expect(201, 'POST', `${tenants}/${name}/remote?id=fixture`, { body: { spec: { server: url, ca } } });
  return Object.assign(remote, {
    url,
    store,
    seen,
    tokens,
    async [Symbol.asyncDispose]() {
      await port[Symbol.asyncDispose]();
      close();
      await store.close();
    },
  });
}

/** Sends a request and reads its whole answer, which is a stream if it was passed on. */
export async function sent(
  server: TenancyServer,
  method: string,
  target: string,
  options: Sent = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly data: Data }> {
  const { status, headers, body } = await server.answer(method, target, options);
  assert.deepEqual(server.problems, [], target);
  if (!isStreaming(body)) return { status, headers, data: parsed(Buffer.concat([body].flat() as Uint8Array[])) };
  const sink = new Collected();
  body.start(sink);
  assert.equal(await sink.ended.promise, 'whole');
  return { status, headers, data: parsed(Buffer.concat(sink.chunks)) };
}

export async function expected(
  server: TenancyServer,
  status: number,
  ...[method, target, options]: [method: string, target: string, options?: Sent]
): Promise<Data> {
  const answer = await sent(server, method, target, options);
  assert.equal(answer.status, status, `${method} ${target}: ${JSON.stringify(answer.data)}`);
  return answer.data;
}

function parsed(bytes: Buffer): Data {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** A request whose body was read. */
class ReadRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly peer: ServerRequest['peer'];
  readonly #request: ServerRequest;
  readonly #body: string;

  constructor(request: ServerRequest, body: string) {
    this.method = request.method;
    this.target = request.target;
    this.peer = request.peer;
    this.#request = request;
    this.#body = body;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  headerValues(name: string): readonly string[] {
    return this.#request.headerValues(name);
  }

  headerNames(): readonly string[] {
    return this.#request.headerNames();
  }

  body(): Promise<Uint8Array> {
    return Promise.resolve(Buffer.from(this.#body));
  }
}
