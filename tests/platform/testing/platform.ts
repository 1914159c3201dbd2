/** `hangar up` as a user starts it, in a separate process, and kubectl beside it. */

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
const patienceMs = 60_000;
const pollMs = 20;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tookMs: number;
}

export class Program {
  readonly child: ChildProcess;
  readonly output = { stdout: '', stderr: '' };
  readonly begunMs = performance.now();

  /** It does not outlive the process that started it. */
  constructor(...args: readonly string[]) {
    const { LOG_LEVEL: _, LOG_FORMAT: __, ...env } = process.env;
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.child.stdout!.on('data', (piece: Buffer) => (this.output.stdout += piece.toString()));
    this.child.stderr!.on('data', (piece: Buffer) => (this.output.stderr += piece.toString()));
    const end = (): void => void this.child.kill('SIGKILL');
    process.once('exit', end);
    this.child.once('exit', () => process.off('exit', end));
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Rejects with its output when it exits, or on timeout. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (this.hasEnded || performance.now() > deadlineMs) {
        throw new Error(`it did not come to that:\n${this.output.stdout}${this.output.stderr}`);
      }
      await sleep(pollMs);
    }
  }

  async ended(): Promise<Ended> {
    const begunMs = performance.now();
    if (!this.hasEnded) await once(this.child, 'exit', { signal: AbortSignal.timeout(patienceMs) });
    return { code: this.child.exitCode, signal: this.child.signalCode, tookMs: performance.now() - begunMs };
  }

  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended();
  }
}

export class Platform implements AsyncDisposable {
  readonly folder: string;
  readonly #kubectl: string;
  #running: Program | undefined;

  private constructor(folder: string, kubectl: string) {
    this.folder = folder;
    this.#kubectl = kubectl;
  }

  /** Creates a folder without running processes. */
  static async prepare(): Promise<Platform> {
    return new Platform(await mkdtemp(join(tmpdir(), 'hangar-platform-')), await tool('kubectl'));
  }

  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  file(name: string): string {
    return join(this.dataFolder, name);
  }

  /** Writes a file to its folder; resolves with its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  get program(): Program {
    return this.#running!;
  }

  /** Starts without waiting. */
  launch(...args: readonly string[]): Program {
    this.#running = new Program('up', '--data-dir', this.dataFolder, '--port', '0', ...args);
    return this.#running;
  }

  /** Resolves when it is ready, with the address that it printed. */
  async start(...args: readonly string[]): Promise<string> {
    const running = this.launch(...args);
    await running.until(() => running.output.stdout.includes('Ctrl-C'));
    return running.output.stdout.split('\n', 1)[0]!.replace(/^ready /, '');
  }

  /** Resolves with the output of kubectl; rejects when it fails. */
  async kubectl(kubeconfig: string, ...args: readonly string[]): Promise<string> {
    const cache = join(this.folder, 'kubectl-cache');
    const all = ['--kubeconfig', this.file(kubeconfig), '--cache-dir', cache, ...args];
    const { stdout } = await promisify(execFile)(this.#kubectl, all, { timeout: patienceMs });
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running && !this.#running.hasEnded) await this.#running.stop('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}
