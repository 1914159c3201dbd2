/** The killing side: a writer process, its reports so far, and its end. */

import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Told } from './telling.ts';
import type { WriterOptions } from './writer.ts';

export interface VictimOptions extends WriterOptions {
  /** Cache of compiled code: the start of a process takes most of the time of a test. */
  compileCache: string;
  hear(told: Told): void;
}

export class Victim {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<unknown>;
  readonly #listeners: { event: Told[0]; resolve(): void }[] = [];
  #rest = '';
  #errors = '';
  #over = false;

  constructor(options: VictimOptions) {
    const { compileCache, hear, ...rest } = options;
    const program = new URL('./writer.ts', import.meta.url).pathname;
    this.#child = spawn(process.execPath, [program, JSON.stringify(rest)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    });
    this.#child.stdin.on('error', () => {}); // it may be dead already
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text, hear));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.#closed = once(this.#child, 'close').then(() => {
      this.#over = true;
      for (const { resolve } of this.#listeners.splice(0)) resolve();
    });
  }

  /** Lets it open the store. */
  go(): void {
    this.#child.stdin.write('go\n');
  }

  /** Resolves when it reports one of these, or has exited. */
  async next(event: Told[0]): Promise<void> {
    if (this.#over) return;
    await new Promise<void>((resolve) => this.#listeners.push({ event, resolve }));
  }

  /** Sends SIGKILL; resolves when it has exited and all its reports were read. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
    if (this.#errors !== '') throw new Error(`the writer said: ${this.#errors}`);
  }

  #read(text: string, hear: (told: Told) => void): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!; // half a line of a killed process does not count as reported
    for (const line of lines) {
      const told = JSON.parse(line) as Told;
      hear(told);
      for (const listener of this.#listeners.filter(({ event }) => event === told[0])) {
        this.#listeners.splice(this.#listeners.indexOf(listener), 1);
        listener.resolve();
      }
    }
  }
}
