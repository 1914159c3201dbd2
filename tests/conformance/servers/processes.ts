/** The processes of one server under test: started in a dedicated folder, stopped together, and the folder removed. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const startTimeoutMs = 120_000;
const outputChunksMax = 200;

export interface ProcessOptions {
  readonly cwd?: string;
  /** Called with all output. */
  onOutput?(text: string): void;
}

export class Processes {
  readonly folder: string;
  readonly #children: ChildProcess[] = [];
  readonly #output: string[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Stops all started processes when `start` fails. */
  static async start<T>(name: string, start: (processes: Processes) => Promise<T>): Promise<T> {
    const processes = new Processes(await mkdtemp(join(tmpdir(), `hangar-conformance-${name}-`)));
    try {
      return await start(processes);
    } catch (error) {
      await processes.stop();
      throw error;
    }
  }

  run(path: string, args: readonly string[], options: ProcessOptions = {}): ChildProcess {
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: options.cwd ?? this.folder });
    const keep = (text: Buffer): void => {
      if (this.#output.push(text.toString()) > outputChunksMax) this.#output.shift();
      options.onOutput?.(text.toString());
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => keep(Buffer.from(`${error.message}\n`)));
    this.#children.push(child);
    return child;
  }

  /** Kills one of them; the others continue. */
  async end(child: ChildProcess): Promise<void> {
    this.#children.splice(this.#children.indexOf(child), 1);
    await end(child);
  }

  /** Rejects with the last output of the processes when one of them exits, or on timeout. */
  async until(isReady: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + startTimeoutMs;
    while (!(await isReady())) {
      if (this.#children.some(hasEnded) || Date.now() > deadlineMs) {
        throw new Error(`the server did not start:\n${this.#output.slice(-20).join('')}`);
      }
      await sleep(100);
    }
  }

  readonly stop = async (): Promise<void> => {
    await Promise.all(this.#children.toReversed().map(end));
    await rm(this.folder, { recursive: true, force: true });
  };
}

const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  // Nothing of it is kept: a graceful shutdown is not needed.
  child.kill('SIGKILL');
  await ended;
}
