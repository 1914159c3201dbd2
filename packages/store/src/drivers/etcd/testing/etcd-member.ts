/** One etcd process. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface EtcdMemberOptions {
  program: string;
  name: string;
  folder: string;
  args: readonly string[];
  secure: boolean;
  /** Ports on loopback. */
  client: number;
  peer: number;
  metrics: number;
}

const startTimeoutMs = 60_000;

export class EtcdMember {
  readonly name: string;
  readonly endpoint: string;
  readonly #options: EtcdMemberOptions;
  /** Path of the executable. A change takes effect at the next start. */
  program: string;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(options: EtcdMemberOptions) {
    this.#options = options;
    this.name = options.name;
    this.program = options.program;
    this.endpoint = `${options.secure ? 'https' : 'http'}://127.0.0.1:${options.client}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** As its peers know it. */
  get peerUrl(): string {
    return `http://127.0.0.1:${this.#options.peer}`;
  }

  /** Starts it, on its previous ports and data if it ran before. Resolves when it has joined a working cluster. */
  async start(): Promise<void> {
    await this.#start(this.#options.args);
  }

  /** Deletes its data and starts it as a new member of the existing cluster, on its previous ports. */
  async rejoin(): Promise<void> {
    rmSync(join(this.#options.folder, this.name), { recursive: true, force: true });
    await this.#start(this.#options.args.map((one) => one.replace(/(?<=^--initial-cluster-state=)new$/, 'existing')));
  }

  async #start(args: readonly string[]): Promise<void> {
    if (this.#child) throw new Error(`${this.name} runs already`);
    const { name, folder, client, peer, metrics } = this.#options;
    const own = [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${this.endpoint}`,
      `--advertise-client-urls=${this.endpoint}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=${this.peerUrl}`,
      `--listen-metrics-urls=http://127.0.0.1:${metrics}`,
    ];
    const child = spawn(this.program, [...own, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const pidFile = join(folder, `${name}.pid`);
    const endWithUs = () => child.kill('SIGKILL');
    process.once('exit', endWithUs);
    child.once('exit', () => {
      process.off('exit', endWithUs);
      rmSync(pidFile, { force: true });
      if (this.#child === child) this.#child = undefined;
    });
    if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid));
    this.#output = '';
    child.once('error', (error) => {
      this.#output += String(error);
      if (child.pid === undefined) this.#child = undefined; // it never ran
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#output = (this.#output + text).slice(-4_000)));
    this.#child = child;
    await this.#healthy(client);
  }

  /** Sends SIGKILL, as in a crash. Resolves when the process has exited. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Sends SIGTERM: the process closes its connections to clients and peers. */
  async terminate(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Sends SIGSTOP: the process keeps its connections and answers nothing. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async isLeader(): Promise<boolean> {
    const metrics = await this.#fetch('/metrics');
    return metrics !== undefined && /^etcd_server_is_leader 1$/m.test(metrics);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.pid === undefined) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  }

  async #healthy(client: number): Promise<void> {
    for (const endMs = Date.now() + startTimeoutMs; Date.now() < endMs;) {
      if (!this.#child) throw new Error(`${this.name} on port ${client} ended: ${this.#output.trim()}`);
      if ((await this.#fetch('/health'))?.includes('"true"')) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`${this.name} did not get healthy in ${startTimeoutMs} ms: ${this.#output.trim()}`);
  }

  async #fetch(path: string): Promise<string | undefined> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#options.metrics}${path}`, {
        signal: AbortSignal.timeout(2_000),
      });
      return await answer.text();
    } catch {
      return undefined; // not started yet, or stopped
    }
  }
}
