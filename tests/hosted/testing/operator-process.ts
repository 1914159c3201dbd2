/** The program `hangar hosted-operator` as a process. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../tools/free-ports.ts';

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));

export interface OperatorProcess {
  readonly pid: number;
  readonly ports: { readonly metrics: number; readonly health: number; readonly webhook: number };
  /** Lines of standard error. */
  readonly lines: readonly string[];
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface OperatorProcessOptions {
  readonly kubeconfig: string;
  readonly args?: readonly string[];
  /** Replaces all variables except PATH and HOME. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startOperatorProcess({
  kubeconfig,
  args = [],
  environment = {},
}: OperatorProcessOptions): Promise<OperatorProcess> {
  const [metrics = 0, health = 0, webhook = 0] = await freePorts(3);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(
    process.execPath,
    [
      program,
      'hosted-operator',
      `--kubeconfig=${kubeconfig}`,
      `--metrics-listen=127.0.0.1:${metrics}`,
      `--health-listen=127.0.0.1:${health}`,
      `--webhook-listen=127.0.0.1:${webhook}`,
      ...args,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH, HOME, ...environment } },
  );
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const lines: string[] = [];
  let rest = '';
  child.stderr.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  return {
    pid: child.pid!,
    ports: { metrics, health, webhook },
    lines,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}
