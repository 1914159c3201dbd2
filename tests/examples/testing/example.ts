/** Runs an example as its users do: in a separate process, with the cluster in its environment. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

export const exampleFolder = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));

const linesMax = 500;

export interface ExampleOptions {
  readonly example: string;
  readonly env: Readonly<Record<string, string>>;
}

export class Example implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<number | NodeJS.Signals>;
  readonly #begun = Promise.withResolvers<number>();
  #hasEnded = false;

  private constructor({ example, env }: ExampleOptions) {
    this.#child = spawn(process.execPath, ['src/main.ts'], {
      cwd: exampleFolder(example),
      // Nothing of the environment of the tests: no cluster and no proxy.
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => this.#heard(line));
    }
    this.#begun.promise.catch(() => {});
    this.#ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#hasEnded = true;
      this.#begun.reject(new Error(`it ended:\n${this.output}`));
      return (code ?? signal) as number | NodeJS.Signals;
    });
  }

  /** Resolves when it is ready. */
  static async start(options: ExampleOptions): Promise<Example> {
    const example = new Example(options);
    try {
      await example.#begun.promise;
      await eventually('it is ready', async () => (await example.get('/readyz')) === 'ok');
      return example;
    } catch (error) {
      await example[Symbol.asyncDispose]();
      throw new Error(`${options.example} did not become ready:\n${example.output}`, { cause: error });
    }
  }

  /** The last part of its output. */
  get output(): string {
    return this.#lines.join('\n');
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns the body of `/metrics`, `/readyz`, …. */
  async get(path: string): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${await this.#begun.promise}${path}`);
    return answer.text();
  }

  /** The value of one series; undefined: there is none. */
  async metric(series: string): Promise<number | undefined> {
    const line = (await this.get('/metrics')).split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  /** Resolves with its exit code, or the signal that killed it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | NodeJS.Signals> {
    this.#child.kill(signal);
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) await this.end('SIGKILL');
  }

  #heard(line: string): void {
    if (this.#lines.push(line) > linesMax) this.#lines.shift();
    const [, port] = /manager started.*?ports=\[?(\d+)/.exec(line) ?? [];
    if (port !== undefined) this.#begun.resolve(Number(port));
  }
}
