/** A kubectl command that runs until the test ends it: `logs -f`, `attach`, `port-forward`. */

import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';

const limitMs = 110_000;

export class Session implements AsyncDisposable {
  readonly #child: ChildProcess;
  #output = '';
  #errors = '';
  #isClosed = false;
  #onChange: (() => void) | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout!.on('data', (piece: Buffer) => this.#changed(() => (this.#output += piece.toString())));
    child.stderr!.on('data', (piece: Buffer) => this.#changed(() => (this.#errors += piece.toString())));
    child.on('close', () => this.#changed(() => (this.#isClosed = true)));
    // A process that has ended does not read its input.
    child.stdin!.on('error', () => {});
  }

  #changed(change: () => void): void {
    change();
    this.#onChange?.();
  }

  get output(): string {
    return this.#output;
  }

  get errors(): string {
    return this.#errors;
  }

  write(text: string): void {
    this.#child.stdin!.write(text);
  }

  endInput(): void {
    this.#child.stdin!.end();
  }

  /** Resolves with the match when the output contains it. Rejects when the command ends before, or on timeout. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(limitMs);
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match) return match;
      if (this.#isClosed || deadline.aborted) {
        const reason = this.#isClosed ? 'the command ended' : `timeout after ${limitMs / 1000} s`;
        throw new Error(`${reason} without ${pattern}:\n${this.#output}${this.#errors}`);
      }
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** Resolves with the exit code. */
  async exited(): Promise<number | null> {
    if (!this.#isClosed) await once(this.#child, 'close', { signal: AbortSignal.timeout(limitMs) });
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }
}
