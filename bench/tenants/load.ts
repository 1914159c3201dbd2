/** Runs the load, a separate program (`load/`): its arguments and results. */

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ownProgram } from '../../tools/own-program.ts';
import type { Hangar } from './hangar.ts';

export interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Created {
  readonly elapsedMs: number;
  /** From the request for a tenant to its namespaces over a new connection; then the three parts of it. */
  readonly all: Latency;
  readonly object: Latency;
  readonly issue: Latency;
  readonly namespaces: Latency;
}

export interface Range {
  readonly prefix?: string;
  readonly from?: number;
  readonly count: number;
  /** Number of concurrent workers. */
  readonly workers?: number;
}

const rangeFlags = ({ prefix = 'tenant', from = 0, count, workers = 8 }: Range): string[] => [
  `-prefix=${prefix}`,
  `-from=${from}`,
  `-count=${count}`,
  `-workers=${workers}`,
];

/** As the load names them. */
export const tenantName = (n: number, prefix = 'tenant'): string => `${prefix}-${String(n).padStart(5, '0')}`;

const program = (): Promise<string> =>
  ownProgram({ name: 'bench-tenants-load', folder: join(import.meta.dirname, 'load') }, console.log);

async function run<T>(args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(await program(), args);
  return JSON.parse(stdout) as T;
}

/** `keep`: a folder for the kubeconfigs, by name. */
export function createTenants(hangar: Hangar, range: Range, keep?: string): Promise<Created> {
  const more = keep === undefined ? [] : [`-keep=${keep}`];
  return run(['create', `-root=${hangar.kubeconfig}`, ...rangeFlags(range), ...more]);
}

/** A request to every tenant; `{n}` is the iteration. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  readonly status: number;
  readonly times?: number;
}

export interface Written {
  readonly elapsedMs: number;
  readonly answered: Latency;
}

/** `within`: concurrent requests to one tenant. */
export async function write(
  hangar: Hangar,
  range: Range & { readonly within?: boolean },
  steps: readonly Step[],
): Promise<Written> {
  const file = hangar.file(`steps-${range.prefix ?? 'tenant'}-${range.from ?? 0}.json`);
  await writeFile(file, JSON.stringify(steps));
  const within = range.within ? ['-within'] : [];
  return run(['write', `-root=${hangar.kubeconfig}`, `-steps=${file}`, ...rangeFlags(range), ...within]);
}

export interface GetOptions {
  readonly kubeconfig: string;
  readonly connections: number;
  /** Interval between the requests of a connection; 0: none. */
  readonly intervalMs: number;
  readonly durationMs: number;
  /** Simulates load from other machines: it uses only spare CPU of this one. */
  readonly isElsewhere?: boolean;
}

export interface Got {
  readonly elapsedMs: number;
  readonly answered: Latency;
  /** With 429. */
  readonly refused: number;
}

export async function get(options: GetOptions): Promise<Got> {
  const { kubeconfig, connections, intervalMs, durationMs, isElsewhere } = options;
  const args = [
    'get',
    `-kubeconfig=${kubeconfig}`,
    `-connections=${connections}`,
    `-interval=${intervalMs}ms`,
    `-duration=${durationMs}ms`,
  ];
  if (!isElsewhere) return run(args);
  const { stdout } = await promisify(execFile)('nice', ['-n', '19', await program(), ...args]);
  return JSON.parse(stdout) as Got;
}

export interface Watched {
  readonly expected: number;
  readonly events: Latency;
  readonly writes: Latency;
}

/** Watches that are open until they are closed. */
export class Watches {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  static async open(hangar: Hangar, tenants: number, each: number): Promise<Watches> {
    const args = ['watch', `-root=${hangar.kubeconfig}`, `-count=${tenants}`, `-each=${each}`];
    const watches = new Watches(spawn(await program(), args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await watches.#next();
    return watches;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Writes objects to each tenant in turn, and measures the delay of their events. */
  async write(): Promise<Watched> {
    this.#child.stdin!.write('\n');
    return (await this.#next()) as Watched;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin!.end();
    await ended;
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the watches ended');
    return JSON.parse(value);
  }
}
