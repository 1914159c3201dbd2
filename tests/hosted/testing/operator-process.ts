/** The programs `hangar hosted-operator` and `hangar front-door` as processes. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../tools/free-ports.ts';

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));

export interface ProgramProcess {
  readonly pid: number;
  /** Lines of standard error. */
  readonly lines: readonly string[];
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface OperatorProcess extends ProgramProcess {
  readonly ports: { readonly metrics: number; readonly health: number; readonly webhook: number };
}

export interface FrontDoorProcess extends ProgramProcess {
  readonly ports: { readonly metrics: number; readonly health: number; readonly listen: number };
}

export interface ProgramProcessOptions {
  readonly kubeconfig: string;
  readonly args?: readonly string[];
  /** Replaces all variables except PATH and HOME. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startOperatorProcess(options: ProgramProcessOptions): Promise<OperatorProcess> {
  const [metrics = 0, health = 0, webhook = 0] = await freePorts(3);
  const listens = { metrics, health, webhook };
  return { ...startProgram('hosted-operator', listens, options), ports: listens };
}

/** `port`: for clients. */
export async function startFrontDoorProcess(
  options: ProgramProcessOptions & { readonly port: number },
): Promise<FrontDoorProcess> {
  const [metrics = 0, health = 0] = await freePorts(2);
  const args = [`--listen=127.0.0.1:${options.port}`, ...(options.args ?? [])];
  const started = startProgram('front-door', { metrics, health }, { ...options, args });
  return { ...started, ports: { metrics, health, listen: options.port } };
}

function startProgram(
  command: string,
  listens: Readonly<Record<string, number>>,
  { kubeconfig, args = [], environment = {} }: ProgramProcessOptions,
): ProgramProcess {
  const { PATH = '', HOME = '' } = process.env;
  const addresses = Object.entries(listens).map(([name, port]) => `--${name}-listen=127.0.0.1:${port}`);
  const child = spawn(process.execPath, [program, command, `--kubeconfig=${kubeconfig}`, ...addresses, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH, HOME, ...environment },
  });
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
    lines,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}
