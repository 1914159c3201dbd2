/** The work that is measured, and what it needs; `load/` does it. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownProgram } from '../../tools/own-program.ts';
import { Connection } from './connection.ts';
import type { Protocol } from './connection.ts';
import { cpuMs } from './processes.ts';
import type { Server } from './servers.ts';

export const connections = 16;

/** In this order: what is created first is deleted last. Names as in `load/works.go`. */
export const works = ['create', 'get', 'list', 'update', 'merge patch', 'server-side apply', 'delete'] as const;

export type Work = (typeof works)[number];

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

interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failure?: string;
}

export async function measure(server: Server, work: Work, options: MeasureOptions): Promise<Measured> {
  const load = await ownProgram({ name: 'bench-load', folder: join(import.meta.dirname, 'load') }, console.log);
  const { protocol, round, durationMs, requestsMax } = options;
  const cpuBefore = cpuMs(server.pids);
  const { stdout } = await promisify(execFile)(load, [
    `-address=127.0.0.1:${server.port}`,
    `-token=${server.token}`,
    `-protocol=${protocol}`,
    `-work=${work}`,
    `-round=${round}`,
    `-connections=${connections}`,
    `-duration=${durationMs}ms`,
    ...(requestsMax === undefined ? [] : [`-requests=${requestsMax}`]),
  ]);
  const { requests, elapsedMs, p50Ms, p99Ms, failure } = JSON.parse(stdout) as LoadResult;
  if (failure !== undefined) throw new Error(`${server.name}, ${work}: ${failure}`);
  return {
    perSecond: (requests / elapsedMs) * 1000,
    p50Ms,
    p99Ms,
    cpuMs: (cpuMs(server.pids) - cpuBefore) / requests,
    requests,
  };
}

/** Of the objects that get, update and patch take turns with, and of the list. */
const objects = 500;
const filler = 'x'.repeat(1024);

/** Namespaces and objects that the works need. */
export async function prepare(server: Server): Promise<void> {
  const connection = await Connection.open({ port: server.port, token: server.token, protocol: 'http/1.1' });
  const post = async (path: string, object: object): Promise<void> => {
    const { status, body } = await connection.request('POST', path, { body: Buffer.from(JSON.stringify(object)) });
    if (status !== 201 && status !== 409) throw new Error(`${server.name}: ${status} ${body.toString()}`);
  };
  for (const name of ['bench', 'bench-list']) {
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (let n = 0; n < objects; n++) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `object-${n}` },
      data: { filler, value: 'v' },
    };
    await post('/api/v1/namespaces/bench/configmaps', object);
    await post('/api/v1/namespaces/bench-list/configmaps', object);
  }
  connection.close();
}
