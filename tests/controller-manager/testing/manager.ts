/** `hangar controller-manager` as in production: a separate process, and the endpoints that it serves. */

import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  DescribedCluster,
  DescribedClusters,
} from '../../../apps/controller-manager/src/serve/clusters/described.ts';
import { Program } from '../../platform/testing/platform.ts';
import type { Ended } from '../../platform/testing/platform.ts';
import { managersIn, processesOf } from './proc.ts';
import type { ManagerProcess, ProcessFacts } from './proc.ts';

export interface ManagerOptions {
  readonly kubeconfig: string;
  readonly peer: string;
  /** The same for every restart of the same replica. */
  readonly workFolder: string;
  readonly flags?: readonly string[];
}

export class ControllerManager implements AsyncDisposable {
  readonly options: ManagerOptions;
  readonly program: Program;

  private constructor(options: ManagerOptions) {
    this.options = options;
    const { kubeconfig, peer, workFolder, flags = [] } = options;
    this.program = new Program(
      'controller-manager',
      `--kubeconfig=${kubeconfig}`,
      `--cluster-peer-name=${peer}`,
      `--work-dir=${workFolder}`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      ...flags,
    );
  }

  /** Resolves when it is ready. */
  static async start(options: ManagerOptions): Promise<ControllerManager> {
    const manager = new ControllerManager(options);
    try {
      await manager.program.until(() => manager.program.output.stdout.includes('ready https://'));
      return manager;
    } catch (error) {
      await manager[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.program.child.pid!;
  }

  get url(): string {
    return /^ready (https:\S+)$/m.exec(this.program.output.stdout)![1]!;
  }

  /** Its standard error. */
  get log(): string {
    return this.program.output.stderr;
  }

  async get(path: string, accept = 'application/json'): Promise<{ readonly status: number; readonly text: string }> {
    // Its certificate is self-signed.
    const outgoing = request(this.url + path, { rejectUnauthorized: false, agent: false, headers: { accept } });
    outgoing.setTimeout(10_000, () => outgoing.destroy(new Error(`${path}: no answer`)));
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of answer.setEncoding('utf8')) text += piece as string;
    return { status: answer.statusCode!, text };
  }

  /** Returns the clusters as it reports them, including those of other replicas. */
  async clusters(): Promise<readonly DescribedCluster[]> {
    const { status, text } = await this.get('/clusters');
    if (status !== 200) throw new Error(`/clusters: ${status} ${text}`);
    return (JSON.parse(text) as DescribedClusters).clusters;
  }

  /** Undefined: it does not have the cluster. */
  async cluster(name: string): Promise<DescribedCluster | undefined> {
    return (await this.clusters()).find((one) => one.name === name);
  }

  /** Returns the programs that run for clusters. */
  managers(): ManagerProcess[] {
    return managersIn(this.options.workFolder);
  }

  /** Returns all processes except itself: programs, their keepers, and others. */
  others(): ProcessFacts[] {
    return processesOf(this.options.workFolder).filter(({ pid }) => pid !== this.pid);
  }

  /** Returns the folders of programs. */
  async folders(): Promise<string[]> {
    const children = join(this.options.workFolder, 'children');
    return (await readdir(children).catch(() => [])).sort();
  }

  signal(name: NodeJS.Signals): void {
    this.program.child.kill(name);
  }

  end(signal: NodeJS.Signals): Promise<Ended> {
    return this.program.stop(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.program.hasEnded) await this.program.stop('SIGKILL');
    // Their keepers kill them; a keeper that fails would otherwise outlive the test.
    for (const { pid } of this.others()) end(pid);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited by itself.
  }
}
