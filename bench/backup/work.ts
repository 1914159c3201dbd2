/** Runs the worker, and measures the memory of the server meanwhile. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PeakMemory } from '../server/peak-memory.ts';
import type { Hangar } from '../tenants/hangar.ts';

const worker = join(import.meta.dirname, 'worker.ts');
const outputBytesMax = 16 * 1024 * 1024;

export interface Worked<T> {
  readonly result: T;
  /** Growth of the memory of the server, at its highest. */
  readonly serverGrowthMiB: number;
}

export async function work<T>(hangar: Hangar, verb: string, ...words: readonly string[]): Promise<Worked<T>> {
  using memory = new PeakMemory(hangar.pid);
  const args = [worker, verb, hangar.kubeconfig, ...words];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: outputBytesMax });
  return { result: JSON.parse(stdout) as T, serverGrowthMiB: memory.growthMiB };
}
