/**
 * The API server as in production: `bin/hangar.js up --bare` with the embedded store, in a separate process, in a folder that outlives it.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../tools/free-ports.ts';
import { Connection } from '../server/connection.ts';

const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const pollMs = 5;

export class Hangar {
  readonly #folder: string;
  readonly #port: number;
  /** Flags for Node, for example for a profile. */
  readonly #nodeFlags: readonly string[];
  /** Of an administrator of the management plane. */
  readonly #token = randomUUID();
  #child: ChildProcess | undefined;

  private constructor(folder: string, port: number, nodeFlags: readonly string[]) {
    this.#folder = folder;
    this.#port = port;
    this.#nodeFlags = nodeFlags;
  }

  /** Runs it in a new folder for as long as `use` takes. */
  static async use<T>(nodeFlags: readonly string[], use: (hangar: Hangar) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-bench-tenants-'));
    const [port] = await freePorts(1);
    const hangar = new Hangar(folder, port!, nodeFlags);
    try {
      await writeFile(join(folder, 'tokens.csv'), `${hangar.#token},bench,,system:masters\n`, { mode: 0o600 });
      await hangar.start();
      return await use(hangar);
    } finally {
      await hangar.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get dataFolder(): string {
    return join(this.#folder, 'data');
  }

  /** Of the management plane. */
  get kubeconfig(): string {
    return join(this.dataFolder, 'admin.kubeconfig');
  }

  /** Path for a file of the run; removed with the server. */
  file(name: string): string {
    return join(this.#folder, name);
  }

  /**
   * From the start of the process to the first `ok` of /readyz, in milliseconds. `isWhole`: with controllers and operator. `flags`: more
   * flags of `hangar up`.
   */
  async start({ isWhole = false, flags = [] as readonly string[] } = {}): Promise<number> {
    const output = await open(this.file('output.txt'), 'a');
    const begun = performance.now();
    this.#child = spawn(
      process.execPath,
      [
        ...this.#nodeFlags,
        program,
        'up',
        isWhole ? '--no-demo' : '--bare',
        `--data-dir=${this.dataFolder}`,
        `--listen=127.0.0.1:${this.#port}`,
        `--token-file=${this.file('tokens.csv')}`,
        ...flags,
      ],
      { stdio: ['ignore', output.fd, output.fd] },
    );
    // Killed if the run fails.
    const child = this.#child;
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    while (!(await this.#isReady())) {
      if (this.#child.exitCode !== null)
        throw new Error(`hangar did not start:\n${await readFile(this.file('output.txt'), 'utf8')}`);
      await sleep(pollMs);
    }
    await output.close();
    return performance.now() - begun;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  connect(): Promise<Connection> {
    return Connection.open({ port: this.#port, token: this.#token, protocol: 'http/1.1' });
  }

  async #isReady(): Promise<boolean> {
    try {
      const connection = await this.connect();
      const { status } = await connection.request('GET', '/readyz');
      connection.close();
      return status === 200;
    } catch {
      return false;
    }
  }
}
