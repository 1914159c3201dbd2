/** Runs a command of a document that does not end by itself: a server, an operator. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ShellOptions } from './shell.ts';

const startTimeoutMs = 5 * 60_000;

/** A terminal in which a program runs until Ctrl-C. */
export class Terminal {
  readonly #child: ChildProcess;
  #output = '';

  constructor(text: string, { cwd, env }: ShellOptions) {
    this.#child = spawn('bash', ['-c', text], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (more: string) => (this.#output += more));
    }
  }

  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async printed(wanted: string): Promise<void> {
    const endMs = performance.now() + startTimeoutMs;
    while (!this.#output.includes(wanted)) {
      if (!this.isRunning || performance.now() > endMs) throw new Error(`no "${wanted}" in\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Sends Ctrl-C to all processes of the terminal. Resolves with the exit code. */
  async end(): Promise<number | null> {
    if (!this.isRunning) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    process.kill(-this.#child.pid!, 'SIGINT');
    await ended;
    return this.#child.exitCode;
  }
}
