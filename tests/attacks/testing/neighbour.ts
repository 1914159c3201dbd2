/**
 * Another tenant, which reads one of its objects repeatedly over a separate connection, in a separate thread. Its slowest request shows
 * how an attack affects others.
 */

import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { KeyPair } from '@hangar/pki';
import { slicesOf } from './slices.ts';

export interface NeighbourOptions {
  readonly port: number;
  readonly ca: string;
  readonly certificate: KeyPair;
  readonly path: string;
}

/** Of the requests that began and ended since the last report. */
interface Report {
  readonly slowestMs: number;
  readonly count: number;
  readonly failures: number;
}

export interface Attacked<T> extends Report {
  readonly result: T;
  /** CPU time of the longest slice of the thread of the server. */
  readonly longestSliceMs: number;
}

export class Neighbour implements AsyncDisposable {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Resolves after its first request. */
  static async start(options: NeighbourOptions): Promise<Neighbour> {
    const worker = new Worker(new URL(import.meta.url), { workerData: options });
    await once(worker, 'message');
    return new Neighbour(worker);
  }

  /** Runs an attack. Resolves when a request that began after its end is answered. */
  async during<T>(attack: () => Promise<T>): Promise<Attacked<T>> {
    await this.#report();
    const { result, longestMs } = await slicesOf(attack);
    return { result, longestSliceMs: longestMs, ...(await this.#report()) };
  }

  async #report(): Promise<Report> {
    this.#worker.postMessage('report');
    const [report] = (await once(this.#worker, 'message')) as [Report];
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

async function read({ port, path }: NeighbourOptions, agent: Agent): Promise<boolean> {
  const sent = request({ host: '127.0.0.1', port, path, agent });
  sent.end();
  const [answer] = await once(sent, 'response');
  for await (const _ of answer);
  return answer.statusCode === 200;
}

async function readOn(options: NeighbourOptions): Promise<never> {
  const { ca, certificate } = options;
  const agent = new Agent({ ca, key: certificate.key, cert: certificate.certificate, keepAlive: true, maxSockets: 1 });
  await read(options, agent);
  parentPort!.postMessage('ready');
  let [slowestMs, count, failures, wanted] = [0, 0, 0, 0];
  parentPort!.on('message', () => wanted++);
  for (;;) {
    const isAsked = wanted > 0;
    const startMs = performance.now();
    if (!(await read(options, agent))) failures++;
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    count++;
    if (!isAsked) continue;
    wanted--;
    parentPort!.postMessage({ slowestMs, count, failures } satisfies Report);
    [slowestMs, count, failures] = [0, 0, 0];
  }
}

if (!isMainThread && workerData) await readOn(workerData as NeighbourOptions);
