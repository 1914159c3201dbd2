/** Test fixture: a control plane on a local port, whose nodes and pods are servers of the test behind any address. */

import { request as httpsRequest } from 'node:https';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkServerIdentity as checkIdentity, connect as connectTls } from 'node:tls';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { openMemoryStore } from '@hangar/store';
import type { ControlPlane } from '../../control-plane.ts';
import { listen } from '../../http/listener.ts';
import { openServer } from '../../testing/open-server.ts';
import type { ServerOptions } from '../../testing/open-server.ts';
import { administrator } from '../../testing/authentication.ts';
import { OutboundError } from '../../outbound/errors.ts';
import type { DialTarget, NodeDialer } from '../dialer.ts';
import type { NodeOptions } from '../node-access.ts';
import { world } from './kubelet.ts';

export const namespace = '/api/v1/namespaces/default';
export const pods = `${namespace}/pods`;
/** Address of the node `node-a`. */
export const nodeAddress = '10.9.0.5';
/** Address of the pod `web`. */
export const podAddress = '10.9.1.7';

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Sent {
  readonly body?: object | string;
  readonly token?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface Switched {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
}

export interface TestCluster extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly port: number;
  readonly problems: readonly Error[];
  /** CA of the control plane, which issues serving certificates of kubelets. */
  readonly authority: KeyPair;
  /** `host:port` of the cluster network → local port. */
  readonly routes: Map<string, number>;
  request(method: string, path: string, sent?: Sent): Promise<Received>;
  /** Sends a request without waiting for the response. */
  begin(method: string, path: string, sent?: Sent): ClientRequest;
  /** Returns the response as a stream. */
  open(method: string, path: string, sent?: Sent): Promise<IncomingMessage>;
  /** Requests another protocol. Rejects if the server does not switch. */
  upgrade(method: string, path: string, headers: OutgoingHttpHeaders): Promise<Switched>;
  /** Waits until no connection to a node is counted. */
  idle(): Promise<void>;
  /** Creates the Node `node-a` and the pod `web` on it. */
  populate(kubeletPort?: number, node?: { metadata?: object; status?: object }): Promise<void>;
}

export interface ClusterOptions extends ServerOptions {
  readonly nodes?: Omit<NodeOptions, 'credentials'>;
  readonly clock?: Clock;
}

export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const authority = createAuthority('cluster', 1, world);
  const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] };
  const clientCertificate = issueCertificate(authority, { ...subject, usage: 'client', days: 1 }, world);
  const credentials = { ca: authority.certificate, clientCertificate };
  const routes = new Map<string, number>();
  const store = await openMemoryStore({ clock: options.clock ?? systemClock });
  const { plane, server, problems, close } = await openServer(store, {
    ...options,
    nodes: { dialer: routed(routes), ...options.nodes, credentials: () => credentials },
  });
  const serving = issueCertificate(
    authority,
    { commonName: 'server', usage: 'server', hosts: ['127.0.0.1'], days: 1 },
    world,
  );
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key: serving.key,
    certificate: serving.certificate,
    clientCas: authority.certificate,
    clock: systemClock,
    handler: (request) => server.handle(request),
    onError: (error) => problems.push(error),
  });
  const begin = (method: string, path: string, { body, token = administrator.token, headers }: Sent = {}) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const outgoing = httpsRequest({
      host: '127.0.0.1',
      port: listener.port,
      method,
      path,
      ca: authority.certificate,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    });
    outgoing.end(text);
    return outgoing;
  };
  const cluster: TestCluster = {
    plane,
    port: listener.port,
    problems,
    authority,
    routes,
    begin: (method, path, sent) => begin(method, path, sent).on('error', () => {}),
    open: (method, path, sent) =>
      new Promise((resolve, reject) => begin(method, path, sent).on('error', reject).on('response', resolve)),
    async request(method, path, sent) {
      const response = await cluster.open(method, path, sent);
      const text = Buffer.concat(await response.toArray()).toString();
      return { status: response.statusCode!, headers: response.headers, text };
    },
    upgrade: (method, path, headers) =>
      new Promise((resolve, reject) =>
        begin(method, path, { headers: { connection: 'Upgrade', ...headers } })
          .on('error', reject)
          .on('response', (response) => {
            void response.toArray().then((chunks) => reject(new NotSwitched(response.statusCode!, chunks.join(''))));
          })
          .on('upgrade', (response, socket, head) => {
            if (head.length > 0) socket.unshift(head);
            socket.on('error', () => socket.destroy());
            resolve({ response, socket });
          }),
      ),
    async idle() {
      while (plane.nodes.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async populate(kubeletPort, node = {}) {
      if (kubeletPort !== undefined) routes.set(`${nodeAddress}:10250`, kubeletPort);
      await created(cluster, '/api/v1/nodes', {
        metadata: { name: 'node-a', ...node.metadata },
        status: {
          addresses: [
            { type: 'Hostname', address: 'node-a' },
            { type: 'InternalIP', address: nodeAddress },
          ],
          daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
          ...node.status,
        },
      });
      await created(cluster, pods, {
        metadata: { name: 'web' },
        spec: {
          nodeName: 'node-a',
          containers: [{ name: 'main', image: 'image', ports: [{ containerPort: 8_080 }] }],
        },
      });
      const status = { podIPs: [{ ip: podAddress }], podIP: podAddress };
      const patched = await cluster.request('PATCH', `${pods}/web/status`, {
        body: { status },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      if (patched.status !== 200) throw new Error(patched.text);
    },
    async [Symbol.asyncDispose]() {
      close();
      await listener.close();
      await store.close();
    },
  };
  return cluster;
}

/** The server answered without switching the protocol. */
export class NotSwitched extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** Connects addresses of the cluster network to local ports. */
function routed(routes: ReadonlyMap<string, number>): NodeDialer {
  const local = ({ host, port }: DialTarget): { host: string; port: number } => {
    const found = routes.get(`${host}:${port}`);
    if (found !== undefined) return { host: '127.0.0.1', port: found };
    throw new OutboundError('Unreachable', `dial tcp ${host}:${port}: connect: no route to host`);
  };
  return {
    dial: async (target): Promise<Duplex> => connectTcp(local(target)),
    async dialTls(target, tls) {
      const { host = '' } = tls;
      const checkServerIdentity: typeof checkIdentity = (_, certificate) => checkIdentity(host, certificate);
      return connectTls({ ...tls, ...local(target), checkServerIdentity });
    },
  };
}

async function created(cluster: TestCluster, path: string, body: object): Promise<void> {
  const { status, text } = await cluster.request('POST', path, { body });
  if (status !== 201) throw new Error(`${path}: ${text}`);
}
