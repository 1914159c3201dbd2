/** A long-running program of a node, with its output in a file. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { childPid } from './namespaces.ts';
import type { Namespaces } from './namespaces.ts';

export interface ProgramOptions {
  readonly path: string;
  readonly args: readonly string[];
  /** Additional variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export class NodeProgram {
  readonly logFile: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, logFile: string) {
    this.#process = process;
    this.logFile = logFile;
  }

  static async start(namespaces: Namespaces, { path, args, env, logFile }: ProgramOptions): Promise<NodeProgram> {
    const log = await open(logFile, 'a');
    try {
      const [command, ...rest] = namespaces.command(path, ...args);
      // In a separate session: Ctrl-C in the terminal of this process does not reach the program.
      const streams = { stdio: ['ignore', log.fd, log.fd] as ['ignore', number, number], detached: true };
      const child = spawn(command, rest, { ...streams, env: { ...process.env, ...env } });
      await once(child, 'spawn');
      return new NodeProgram(child, logFile);
    } finally {
      await log.close();
    }
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Resolves with the exit code. */
  async exited(): Promise<number | null> {
    if (this.isRunning) await once(this.#process, 'exit');
    return this.#process.exitCode;
  }

  /** The signal reaches the program itself, which is a child of the process that entered the namespaces. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#process, 'exit');
    process.kill(await childPid(this.#process.pid!), signal);
    await exited;
  }
}

/** Returns the end of a log for the report of a failure. */
export async function lastLines(logFile: string): Promise<string> {
  return (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-reportedLines).join('\n');
}

const reportedLines = 40;
