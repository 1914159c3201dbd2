/** A terminal into which a test pastes commands of documents. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Timeout of one paste. */
  readonly pasteTimeoutMs?: number;
}

export class Shell implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #pasteTimeoutMs: number;
  #output = '';
  #onOutput: (() => void) | undefined;

  constructor({ cwd, env, pasteTimeoutMs = 60_000 }: ShellOptions) {
    this.#pasteTimeoutMs = pasteTimeoutMs;
    // A separate process group: everything that is started in it can be killed with it. Jobs as in a terminal.
    this.#child = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: 'pipe', detached: true });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#onOutput?.();
      });
    }
    this.#child.stdin!.on('error', () => {});
    this.#child.stdin!.write('exec 2>&1\n');
  }

  /** Resolves with the output when the last command has completed. */
  async paste(text: string): Promise<string> {
    const marker = `=== ${randomUUID()}`;
    this.#output = '';
    // Commands read from the terminal, too: pasted text must not be their input.
    this.#child.stdin!.write(`{ ${text.trimEnd()}\n} < /dev/null\necho; echo "${marker}"\n`);
    const endMs = performance.now() + this.#pasteTimeoutMs;
    while (!this.#output.includes(marker)) {
      if (performance.now() > endMs || this.#child.exitCode !== null) {
        throw new Error(`no end of\n${text}\nwhich printed\n${this.#output}`);
      }
      await this.#more();
    }
    // Messages of the shell about its jobs differ in a terminal.
    const notice = /^bash: line \d+: +\d+ (Killed|Terminated) .*\n/gm;
    return this.#output.slice(0, this.#output.indexOf(marker)).replaceAll(notice, '').trimEnd();
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, 1_000);
    this.#onOutput = resolve;
    await promise;
    clearTimeout(timer);
    this.#onOutput = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await ended;
  }
}
