/**
 * The measured processes: each is a program of `programs/`, configured by its argument, and reports in named messages. None outlives the
 * run.
 */

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Cache of compiled code, as in `bin/hangar.js`: with it Node does not load the TypeScript compiler. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/hangar-bench', import.meta.url));

export interface ProgramOptions {
  readonly nodeFlags?: readonly string[];
  /** Called with every message that has no waiting receiver. */
  readonly onSaid?: (what: string, value: never) => void;
}

type Said = readonly [what: string, value: unknown];

export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>();
  readonly #said = new Map<string, unknown[]>();
  readonly #ended: Promise<unknown>;

  constructor(name: string, options: object, { nodeFlags = [], onSaid }: ProgramOptions = {}) {
    const path = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
    const child = fork(path, [JSON.stringify(options)], { execArgv: [...nodeFlags], env });
    this.#child = child;
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    this.#ended = once(child, 'exit');
    child.on('message', ([what, value]: Said) => {
      const waiting = this.#waiting.get(what);
      this.#waiting.delete(what);
      if (waiting) waiting.resolve(value);
      else if (onSaid) onSaid(what, value as never);
      else this.#said.getOrInsertComputed(what, () => []).push(value);
    });
    child.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${name} ended: ${code ?? signal}`));
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves with the next message of this name. */
  heard<T>(what: string): Promise<T> {
    const early = this.#said.get(what)?.shift();
    if (early !== undefined) return Promise.resolve(early as T);
    const waiting = this.#waiting.getOrInsertComputed(what, () => Promise.withResolvers<unknown>());
    return waiting.promise as Promise<T>;
  }

  tell(what: string): void {
    this.#child.send(what);
  }

  async ask<T>(what: string): Promise<T> {
    this.tell(what);
    return this.heard<T>(what);
  }

  /** Resolves when it has exited. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL');
  }
}
