/** The work that is measured, and what it needs; `load/` does it. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ownProgram } from '../../tools/own-program.ts';
import { Connection } from './connection.ts';
import type { Protocol } from './connection.ts';
import { collectionPath, filledIn, kinds } from './kinds.ts';
import type { BenchKind } from './kinds.ts';
import { cpuMs } from './processes.ts';
import type { Server } from './servers.ts';

export const connectionsDefault = 16;

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
  /** ConfigMaps unless given. */
  readonly kind?: BenchKind;
  /** Each with one request in flight. */
  readonly connections?: number;
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
  const { protocol, round, durationMs, requestsMax, kind = configMaps, connections = connectionsDefault } = options;
  const cpuBefore = cpuMs(server.pids);
  const { stdout } = await promisify(execFile)(load, [
    `-address=127.0.0.1:${server.port}`,
    `-token=${server.token}`,
    `-protocol=${protocol}`,
    `-work=${work}`,
    `-kind=${loadKind(kind)}`,
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
const configMaps = kinds['configmaps']!;
const [changed, listed] = ['bench', 'bench-list'];

/** The kind as `load/works.go` reads it. */
function loadKind(kind: BenchKind): string {
  return JSON.stringify({
    collection: collectionPath(kind, changed),
    listed: collectionPath(kind, listed),
    object: JSON.stringify(kind.object).replaceAll('__namespace__', changed),
    mergePatch: JSON.stringify(kind.mergePatch),
  });
}

/** Creates the namespaces, and the objects of a kind that the works read and change. */
export async function prepare(server: Server, kind: BenchKind = configMaps): Promise<void> {
  const connection = await Connection.open({ port: server.port, token: server.token, protocol: 'http/1.1' });
  const post = async (path: string, text: string, retriesMax = 0): Promise<void> => {
    const { status, body } = await connection.request('POST', path, { body: Buffer.from(text) });
    if (status === 201 || status === 409) return;
    // A definition is served a moment after it was accepted.
    if (status !== 404 || retriesMax === 0) throw new Error(`${server.name}: ${status} ${body.toString()}`);
    await sleep(100);
    await post(path, text, retriesMax - 1);
  };
  for (const name of [changed, listed]) {
    await post('/api/v1/namespaces', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  }
  for (const { path, object } of (await kind.needs?.()) ?? []) await post(path, JSON.stringify(object));
  for (let n = 0; n < objects; n++) {
    for (const namespace of [changed, listed]) {
      const text = filledIn(kind.object, { name: `object-${n}`, value: 'v', namespace });
      await post(collectionPath(kind, namespace), text, 100);
    }
  }
  connection.close();
}
