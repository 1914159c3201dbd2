/**
 * Named pipes between a supervisor, the keeper and the program. They outlive the supervisor: the program keeps its ends open for reading
 * and writing, so that a write never fails while no supervisor reads, and the next supervisor opens the same pipes.
 */

import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

export const pipeNames = ['stdout', 'stderr', 'lease'] as const;
export type PipeName = (typeof pipeNames)[number];

export async function makePipes(mkfifo: string, folder: string): Promise<void> {
  await execute(mkfifo, ['-m', '600', ...pipeNames.map((name) => join(folder, name))]);
}

/** Descriptors for the keeper: standard output, standard error, the lease and the report. */
export function openForKeeper(folder: string): number[] {
  const opened: number[] = [];
  try {
    for (const name of pipeNames) opened.push(openSync(join(folder, name), O_RDWR));
    opened.push(openSync(join(folder, 'report'), O_WRONLY | O_CREAT | O_APPEND, 0o600));
    return opened;
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  }
}

/** Reads a pipe. The stream ends when the program and its children have closed it. */
export const openOutput = (folder: string, name: 'stdout' | 'stderr'): Socket =>
  new Socket({ fd: openSync(join(folder, name), O_RDONLY | O_NONBLOCK), readable: true, writable: false });

/** Renews the time that a program may run without another renewal. */
export class Lease {
  readonly #descriptor: number;
  #isClosed = false;

  /** Throws when no keeper has the pipe open. */
  constructor(folder: string) {
    this.#descriptor = openSync(join(folder, 'lease'), O_WRONLY | O_NONBLOCK);
  }

  renew(forMs: number): void {
    if (this.#isClosed) return;
    try {
      writeSync(this.#descriptor, `${(forMs / 1000).toFixed(3)}\n`);
    } catch {
      // The keeper has exited, or is stopped and its pipe is full: its exit is reported separately.
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#descriptor);
  }
}
