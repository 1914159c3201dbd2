/** Test fixture: a control plane with an aggregator on a local port, in front of the aggregated servers of tests. */

import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { openMemoryStore } from '@hangar/store';
import { StaticTokenAuthenticator } from '../../auth/authenticate.ts';
import type { StaticToken } from '../../auth/authenticate.ts';
import { privilegedGroup } from '../../auth/authorize.ts';
import type { Authorizer } from '../../auth/authorize.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { listen } from '../../http/listener.ts';
import type { ClusterAccess } from '../../outbound/cluster-access.ts';
import { Outbound } from '../../outbound/index.ts';
import { ApiServer } from '../../server.ts';
import { openTestPlane } from '../../testing/open-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { Aggregator } from '../aggregator.ts';
import { publishAuthentication } from '../authentication-config.ts';

export const world = { clock: systemClock, random: systemRandom };

export interface HubOptions {
  readonly clock?: Clock;
  /** In addition to the token `admin` of the administrator. */
  readonly tokens?: readonly StaticToken[];
  readonly authorizers?: readonly Authorizer[];
  /** Networks that APIServices may use; absent: this machine. */
  readonly allow?: readonly string[];
}

export interface HubAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Parsed; undefined if it is not JSON. */
  readonly data: Data;
}

export interface Sent {
  readonly body?: object | string;
  readonly contentType?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface Hub extends AsyncDisposable {
  readonly port: number;
  readonly plane: ControlPlane;
  readonly aggregator: Aggregator;
  readonly access: ClusterAccess;
  readonly frontProxyCa: KeyPair;
  readonly frontProxy: KeyPair;
  request(method: string, path: string, sent?: Sent): Promise<HubAnswer>;
  /** Returns the response as a stream. */
  stream(path: string): Promise<IncomingMessage>;
  /** Creates a Service that leads to a port of this machine, and its APIService. */
  register(group: string, port: number, ca: string, more?: object): Promise<void>;
  until(what: string, check: () => Promise<boolean>): Promise<void>;
  condition(group: string): Promise<Data>;
}

const administrator: StaticToken = { token: 'admin', user: 'admin', groups: ['system:masters'] };

export async function startHub(options: HubOptions = {}): Promise<Hub> {
  const { clock = systemClock } = options;
  const authority = createAuthority('hub-ca', 1, world);
  const own = { commonName: 'hub', usage: 'server', hosts: ['127.0.0.1', 'localhost'], days: 1 } as const;
  const serving = issueCertificate(authority, own, world);
  const frontProxyCa = createAuthority('front-proxy', 1, world);
  const frontProxy = issueCertificate(
    frontProxyCa,
    { commonName: 'front-proxy-client', usage: 'client', days: 1 },
    world,
  );
  const store = await openMemoryStore({ clock });
  const outbound = new Outbound({ allow: options.allow ?? ['127.0.0.0/8', '::1'], clock });
  const { plane, close } = await openTestPlane(store, { clock, outbound });
  await publishAuthentication(plane, {
    clientCa: authority.certificate,
    frontProxyCa: frontProxyCa.certificate,
    allowedNames: ['front-proxy-client'],
  });
  const problems: Error[] = [];
  const onError = (error: Error): void => void problems.push(error);
  const aggregator = new Aggregator({ plane, clientCertificate: () => frontProxy, onError });
  await aggregator.start();
  const server = new ApiServer({
    plane,
    aggregator,
    authenticators: [new StaticTokenAuthenticator([administrator, ...(options.tokens ?? [])])],
    authorizers: options.authorizers ?? [privilegedGroup],
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1',
    onError,
  });
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key: serving.key,
    certificate: serving.certificate,
    clientCas: authority.certificate,
    clock: systemClock,
    handler: (request) => server.handle(request),
    onError,
  });
  const { port } = listener;
  const open = (method: string, path: string, { body, contentType, token, headers }: Sent = {}) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    return new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest({
        host: '127.0.0.1',
        port,
        method,
        path,
        ca: authority.certificate,
        agent: false,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token ?? administrator.token}`,
          ...(text === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
          ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      });
      outgoing.on('error', reject);
      outgoing.on('response', resolve);
      outgoing.end(text);
    });
  };
  const hub: Hub = {
    port,
    plane,
    aggregator,
    frontProxyCa,
    frontProxy,
    access: {
      server: `https://127.0.0.1:${port}`,
      ca: authority.certificate,
      token: () => Promise.resolve(administrator.token),
    },
    async request(method, path, sent) {
      const response = await open(method, path, sent);
      const text = Buffer.concat(await response.toArray()).toString();
      return { status: response.statusCode!, headers: response.headers, text, data: parsed(text) };
    },
    stream: (path) => open('GET', path),
    async register(group, target, ca, more) {
      const service = { namespace: 'default', name: group.split('.')[0]!, port: target };
      await created(hub, '/api/v1/namespaces/default/services', {
        metadata: { name: service.name },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      });
      const caBundle = Buffer.from(ca).toString('base64');
      await created(hub, '/apis/apiregistration.k8s.io/v1/apiservices', {
        metadata: { name: `v1.${group}` },
        spec: { group, version: 'v1', service, caBundle, groupPriorityMinimum: 1_000, versionPriority: 15, ...more },
      });
    },
    async until(what, check) {
      for (let attempt = 0; attempt < 1_000; attempt++) {
        if (await check()) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`in vain: ${what} ${problems.map(String).join()}`);
    },
    async condition(group) {
      const { data } = await hub.request('GET', `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`);
      return data.status?.conditions?.[0];
    },
    async [Symbol.asyncDispose]() {
      aggregator.close();
      await listener.close();
      close();
      outbound.close();
      await store.close();
    },
  };
  return hub;
}

async function created(hub: Hub, path: string, body: object): Promise<void> {
  const { status, text } = await hub.request('POST', path, { body });
  if (status !== 201) throw new Error(`${path}: ${text}`);
}

function parsed(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
