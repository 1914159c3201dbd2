/**
 * A network namespace, as a network behind NAT: processes inside reach this machine at `hostAddress`; this machine has no route to
 * `nodeAddress`. Requires root.
 *
 *     this machine                     namespace
 *     10.203.N.1 ──── veth pair ──── 10.203.N.2      10.204.N.1 (nodeAddress, on lo)
 */

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const ip = async (...args: string[]): Promise<string> => (await execute('ip', args)).stdout;
const prefix = 'hangar-tunnel-';
/** Interface names have at most 15 characters. */
const linkPrefix = 'hgt';

/** A process that was started in the namespace. */
export interface NetworkProcess {
  readonly child: ChildProcess;
  /** Resolves with the first line of its output that matches; rejects if it exits before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Everything that it has printed. */
  output(): string;
}

let opened = 0;

export class PrivateNetwork implements AsyncDisposable {
  /** Address of this machine, for processes inside. */
  readonly hostAddress: string;
  /** Address of the namespace, for this machine. */
  readonly address: string;
  readonly nodeAddress: string;
  readonly #name: string;
  readonly #processes: ChildProcess[] = [];

  private constructor(name: string, number: number) {
    this.#name = name;
    this.hostAddress = `10.203.${number}.1`;
    this.address = `10.203.${number}.2`;
    this.nodeAddress = `10.204.${number}.1`;
  }

  static async open(): Promise<PrivateNetwork> {
    if (process.getuid?.() !== 0) throw new Error('network namespaces require root');
    await removeLeftovers();
    const number = await freeNumber();
    const name = `${prefix}${process.pid}-${number}`;
    const link = `${linkPrefix}${number}`;
    const network = new PrivateNetwork(name, number);
    await ip('netns', 'add', name);
    try {
      await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      await ip('addr', 'add', `${network.hostAddress}/30`, 'dev', link);
      await ip('link', 'set', link, 'up');
      await ip('-n', name, 'addr', 'add', `${network.address}/30`, 'dev', 'eth0');
      await ip('-n', name, 'link', 'set', 'eth0', 'up');
      await ip('-n', name, 'link', 'set', 'lo', 'up');
      await ip('-n', name, 'addr', 'add', `${network.nodeAddress}/32`, 'dev', 'lo');
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
    return network;
  }

  run(command: string, ...args: string[]): NetworkProcess {
    const child = spawn('ip', ['netns', 'exec', this.#name, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#processes.push(child);
    let output = '';
    const changed: (() => void)[] = [];
    const add = (chunk: Buffer): void => {
      output += chunk.toString();
      for (const notify of changed.splice(0)) notify();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    const exited = once(child, 'close');
    return {
      child,
      output: () => output,
      async line(pattern) {
        for (;;) {
          const found = pattern.exec(output);
          if (found) return found;
          const more = new Promise<'more'>((resolve) => changed.push(() => resolve('more')));
          if ((await Promise.race([more, exited])) !== 'more') throw new Error(`${command} exited: ${output}`);
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    // Removes both ends of the veth pair, too.
    await ip('netns', 'delete', this.#name);
  }
}

/** Each number is one pair of networks. Another run may use the lower ones. */
async function freeNumber(): Promise<number> {
  const links = await ip('-o', 'link', 'show');
  for (let number = (process.pid * 7 + opened++) % 250; ; number = (number + 1) % 250) {
    if (!links.includes(`${linkPrefix}${number}@`)) return number;
  }
}

/** Removes namespaces of test runs that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const line of (await ip('netns', 'list')).split('\n')) {
    const name = line.split(' ', 1)[0]!;
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) await ip('netns', 'delete', name).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
