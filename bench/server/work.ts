/** The work that is measured: what each request is, and a closed loop of connections that does it. */

import { cpuMs } from './processes.ts';
import { Connection } from './connection.ts';
import type { Protocol } from './connection.ts';
import type { Server } from './servers.ts';
import { percentile } from '../table.ts';

export const connections = 16;
/** Of the objects that get, update and patch take turns with. */
const objects = 500;
const filler = 'x'.repeat(1024);
const collection = '/api/v1/namespaces/bench/configmaps';

export interface Work {
  readonly name: string;
  /** The nth request of all, sent by one of the connections. */
  request(n: number, round: number): WorkRequest;
}

interface WorkRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Buffer;
  readonly contentType?: string;
}

const configMap = (name: string, value: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'bench' },
  data: { filler, value },
});
const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const existing = (n: number): string => `object-${n % objects}`;

export const works: readonly Work[] = [
  {
    name: 'create',
    request: (n, round) => ({ method: 'POST', path: collection, body: bytes(configMap(`new-${round}-${n}`, 'v')) }),
  },
  { name: 'get', request: (n) => ({ method: 'GET', path: `${collection}/${existing(n)}` }) },
  { name: 'list of 500', request: () => ({ method: 'GET', path: '/api/v1/namespaces/bench-list/configmaps' }) },
  {
    name: 'update',
    request: (n, round) => ({
      method: 'PUT',
      path: `${collection}/${existing(n)}`,
      body: bytes(configMap(existing(n), `${round}-${n}`)),
    }),
  },
  {
    name: 'merge patch',
    request: (n, round) => ({
      method: 'PATCH',
      path: `${collection}/${existing(n)}`,
      body: bytes({ data: { value: `p${round}-${n}` } }),
      contentType: 'application/merge-patch+json',
    }),
  },
  {
    name: 'server-side apply',
    request: (n, round) => ({
      method: 'PATCH',
      path: `${collection}/applied-${n % objects}?fieldManager=bench&force=true`,
      body: bytes(configMap(`applied-${n % objects}`, `a${round}-${n}`)),
      contentType: 'application/apply-patch+yaml',
    }),
  },
  // What was created before, by the same numbers.
  { name: 'delete', request: (n, round) => ({ method: 'DELETE', path: `${collection}/new-${round}-${n}` }) },
];

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the server's process and its store's, per request. */
  readonly cpuMs: number;
  readonly requests: number;
}

export interface MeasureOptions {
  readonly protocol: Protocol;
  readonly round: number;
  /** Ends after this time, or after this many requests. */
  readonly durationMs: number;
  readonly requestsMax?: number;
}

export async function measure(server: Server, work: Work, options: MeasureOptions): Promise<Measured> {
  const { protocol, round, durationMs, requestsMax = Infinity } = options;
  const all = await Promise.all(
    Array.from({ length: connections }, () => Connection.open({ port: server.port, token: server.token, protocol })),
  );
  const latencies: number[] = [];
  let next = 0;
  const cpuBefore = cpuMs(server.pids);
  const begun = performance.now();
  const worker = async (connection: Connection): Promise<void> => {
    while (next < requestsMax && performance.now() - begun < durationMs) {
      const { method, path, ...rest } = work.request(next++, round);
      const sent = performance.now();
      const { status, body } = await connection.request(method, path, rest);
      latencies.push(performance.now() - sent);
      // Two at once on one object are a conflict, which is an answer like any other.
      if (status >= 300 && status !== 409)
        throw new Error(`${server.name}, ${work.name}: ${status} ${body.toString()}`);
    }
  };
  try {
    await Promise.all(all.map(worker));
  } finally {
    for (const connection of all) connection.close();
  }
  const elapsedMs = performance.now() - begun;
  latencies.sort((a, b) => a - b);
  return {
    perSecond: (latencies.length / elapsedMs) * 1000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    cpuMs: (cpuMs(server.pids) - cpuBefore) / latencies.length,
    requests: latencies.length,
  };
}

/** Namespaces and objects that the works need. */
export async function prepare(server: Server): Promise<void> {
  const connection = await Connection.open({ port: server.port, token: server.token, protocol: 'http/1.1' });
  const post = async (path: string, object: object): Promise<void> => {
    const { status, body } = await connection.request('POST', path, { body: bytes(object) });
    if (status !== 201 && status !== 409) throw new Error(`${server.name}: ${status} ${body.toString()}`);
  };
  for (const name of ['bench', 'bench-list']) {
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (let n = 0; n < objects; n++) {
    await post(collection, configMap(existing(n), 'v'));
    const listed = { ...configMap(existing(n), 'v'), metadata: { name: existing(n) } };
    await post('/api/v1/namespaces/bench-list/configmaps', listed);
  }
  connection.close();
}
