/** kubectl with the kubeconfig of one user. */

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';
import type { ToolName } from '../../../tools/tool.ts';

const timeoutMs = 120_000;
const outputBytesMax = 64 * 1024 * 1024;

export class Kubectl {
  readonly kubeconfig: string;
  readonly #program: string;

  private constructor(program: string, kubeconfig: string) {
    this.#program = program;
    this.kubeconfig = kubeconfig;
  }

  static async of(kubeconfig: string, program: ToolName = 'kubectl'): Promise<Kubectl> {
    return new Kubectl(await tool(program, { log: console.log }), kubeconfig);
  }

  /** Returns the standard output. Rejects with the error output. */
  async run(...args: readonly string[]): Promise<string> {
    const options = { timeout: timeoutMs, maxBuffer: outputBytesMax };
    try {
      return (await promisify(execFile)(this.#program, [`--kubeconfig=${this.kubeconfig}`, ...args], options)).stdout;
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string };
      throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || message}`, { cause: error });
    }
  }

  /** Creates or changes objects. */
  async apply(...objects: readonly object[]): Promise<void> {
    const child = this.start('apply', '--server-side', '--force-conflicts', '--filename=-');
    const exited = outputOf(child);
    child.stdin!.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await exited;
  }

  /** Starts kubectl without waiting for its exit. The caller ends it. */
  start(...args: readonly string[]): ChildProcess {
    return spawn(this.#program, [`--kubeconfig=${this.kubeconfig}`, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  }

  /** Returns the arguments of a command that runs kubectl, for programs that start it. */
  command(...args: readonly string[]): readonly string[] {
    return [this.#program, `--kubeconfig=${this.kubeconfig}`, ...args];
  }

  /** Returns a part of an object, in the syntax of kubectl's JSONPath. */
  async value(path: string, ...args: readonly string[]): Promise<string> {
    return this.run('get', ...args, `--output=jsonpath=${path}`);
  }

  /** Waits with `kubectl wait`. The time limit is for a failure. */
  async wait(condition: string, ...args: readonly string[]): Promise<void> {
    const wait = (...some: readonly string[]): Promise<string> =>
      this.run('wait', `--for=${condition}`, '--timeout=110s', ...some);
    if (condition !== 'create') return void (await wait(...args));
    // kubectl waits for the creation of a single object only: several ones that do not exist are an error.
    const options = args.filter((arg) => arg.startsWith('-'));
    for (const name of args) if (!name.startsWith('-')) await wait(name, ...options);
  }
}

/** Returns the standard output when the process exits with code 0; else rejects with its error output. */
export async function outputOf(child: ChildProcess): Promise<string> {
  let [output, errors] = ['', ''];
  child.stdout!.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr!.on('data', (piece: Buffer) => (errors += piece.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(errors.trim() || `exit code ${code}`)),
    );
  });
}
