/**
 * A platform as a user starts it: `hangar up --hosted` in a temporary folder, with the programs of the tools cache. All commands run as
 * processes.
 *
 *     await using platform = await HostedPlatform.start();
 *     await platform.hangar('create', 'app', '-o', 'app.kubeconfig');
 *     await platform.kubectl('app.kubeconfig', 'get', 'namespaces');
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { announced } from '@hangar/core/command-line';
import { freePorts } from '../../../tools/free-ports.ts';
import { tool } from '../../../tools/tool.ts';

const run = promisify(execFile);
const hangarProgram = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
const components = ['etcd', 'etcdutl', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const outputBytesMax = 256 * 1024 * 1024;

export class HostedPlatform implements AsyncDisposable {
  readonly folder: string;
  readonly #kubectl: string;
  readonly #program: string;
  #upArgs: readonly string[] = [];
  /** Ends commands that wait. */
  readonly #stopping = new AbortController();

  private constructor(folder: string, kubectl: string, program: string) {
    this.folder = folder;
    this.#kubectl = kubectl;
    this.#program = program;
  }

  /** `args`: further arguments of `hangar up`. `program`: instead of `bin/hangar.js`. */
  static async start(args: readonly string[] = [], program = hangarProgram): Promise<HostedPlatform> {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-migration-'));
    const started = program === hangarProgram ? program : join(folder, 'hangar');
    const platform = new HostedPlatform(folder, await tool('kubectl'), started);
    try {
      await mkdir(join(folder, 'bin'));
      // Readers of the data directory know the server by the name of its program.
      if (program !== hangarProgram) await symlink(program, platform.#program);
      for (const name of components) await symlink(await tool(name), join(folder, 'bin', name));
      const [port] = (await freePorts(1)) as [number];
      platform.#upArgs = ['up', '--detach', '--no-demo', '--hosted', `--port=${port}`, ...args];
      await platform.startServer();
    } catch (error) {
      await platform[Symbol.asyncDispose]();
      throw error;
    }
    return platform;
  }

  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  /** Also after the server was killed. */
  async startServer(): Promise<void> {
    await this.hangar(...this.#upArgs);
  }

  hangar(...args: readonly string[]): Promise<string> {
    return this.#hangar(args, this.#stopping.signal);
  }

  async #hangar(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const env = {
      ...process.env,
      PATH: `${join(this.folder, 'bin')}:${process.env['PATH']}`,
      HANGAR_TOOLS_CACHE: this.folder,
      KUBECONFIG: join(this.folder, 'user.kubeconfig'),
    };
    const all = [this.#program, ...args, `--data-dir=${this.dataFolder}`];
    const options = { env, cwd: this.folder, maxBuffer: outputBytesMax, signal };
    const { stdout } = await run(process.execPath, all, options);
    return stdout;
  }

  /** Resolves with the time in seconds when the migration is complete. */
  async migrate(name: string, to: 'dedicated' | 'virtual'): Promise<number> {
    const fromMs = performance.now();
    try {
      await this.hangar('migrate', name, '--to', to);
    } catch (error) {
      throw new Error(await this.describe(), { cause: error });
    }
    return (performance.now() - fromMs) / 1_000;
  }

  /** Process ID of the server. */
  async serverPid(): Promise<number> {
    const server = await announced(this.dataFolder);
    if (!server) throw new Error('no server runs in the data directory');
    return server.pid;
  }

  /** `kubeconfig`: a file in the folder. */
  async kubectl(kubeconfig: string, ...args: readonly string[]): Promise<string> {
    const all = [`--kubeconfig=${join(this.folder, kubeconfig)}`, ...args];
    const { stdout } = await run(this.#kubectl, all, { cwd: this.folder, maxBuffer: outputBytesMax });
    return stdout;
  }

  /** Of the management plane. */
  management(...args: readonly string[]): Promise<string> {
    return this.kubectl('data/admin.kubeconfig', ...args);
  }

  async create(kubeconfig: string, object: object): Promise<void> {
    const file = join(this.folder, 'object.json');
    await writeFile(file, JSON.stringify(object));
    await this.kubectl(kubeconfig, 'create', `--filename=${file}`);
  }

  /** Returns the text of a kubeconfig in the folder. */
  text(kubeconfig: string): Promise<string> {
    return readFile(join(this.folder, kubeconfig), 'utf8');
  }

  /** Returns the state of all objects and the end of the log, for failed tests. */
  async describe(): Promise<string> {
    const objects = ['controlplanes,hostedcontrolplanes,tenants,pods', '-A', '--output=yaml'] as const;
    return [
      await this.management('get', ...objects).catch(String),
      readFileSync(join(this.dataFolder, 'hangar.log'), 'utf8').slice(-8_000),
    ].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#hangar(['down']).catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }
}
