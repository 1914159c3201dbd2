/**
 * The namespaces of a node: network, mounts, processes, host name and IPC. They exist as long as their first process, which ends when
 * this process ends, even when it is killed; all programs and pods of the node end with it.
 *
 * The node has the files of this machine, with changes of /etc and /var in a separate folder, and an empty /run.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';

/** The kubelet sets these. They are settings of the whole machine: the node gets files in their place. */
const machineSysctls = {
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'vm/overcommit_memory': '1',
};

/**
 * The first process of a node. It ends when its standard input is closed. The shell waits for `cat`, and reaps all other processes that
 * become its children meanwhile. It does not run `cat` by exec, because another command follows. Signals of a terminal do not end the node.
 */
export const initScript = "trap '' INT TERM HUP; echo ready; cat > /dev/null; exit 0";

export class Namespaces {
  /** The process id of the first process, on this machine. */
  readonly pid: number;
  readonly #first: ChildProcess;

  private constructor(first: ChildProcess, pid: number) {
    this.#first = first;
    this.pid = pid;
  }

  static async start(hostname: string, folder: string): Promise<Namespaces> {
    const kinds = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--uts', '--ipc'];
    const command = [...kinds, 'sh', '-c', initScript];
    const first = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    const namespaces = new Namespaces(first, await childOf(first));
    try {
      await namespaces.run('hostname', hostname);
      await namespaces.#mount(folder);
    } catch (error) {
      await namespaces.stop();
      throw error;
    }
    return namespaces;
  }

  /** Returns the program and arguments that run a command in the namespaces. */
  command(program: string, ...args: readonly string[]): [string, ...string[]] {
    const kinds = ['--net', '--mount', '--pid', '--uts', '--ipc'];
    return ['nsenter', '--target', String(this.pid), ...kinds, '--', program, ...args];
  }

  run(program: string, ...args: readonly string[]): Promise<string> {
    return run(...this.command(program, ...args));
  }

  async #mount(folder: string): Promise<void> {
    const mount = (...args: string[]): Promise<string> => this.run('mount', ...args);
    for (const name of ['var', 'etc']) {
      const [upper, work] = [join(folder, name), join(folder, `${name}.work`)];
      await Promise.all([upper, work].map((one) => mkdir(one, { recursive: true })));
      await mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/${name},upperdir=${upper},workdir=${work}`, `/${name}`);
    }
    await mount('-t', 'tmpfs', 'tmpfs', '/run');
    // Volumes of pods need a filesystem that is not an overlay.
    await mkdir(join(folder, 'kubelet'), { recursive: true });
    await this.run('mkdir', '-p', '/var/lib/kubelet');
    await mount('--bind', join(folder, 'kubelet'), '/var/lib/kubelet');
    // A sysfs shows the network interfaces of the namespace in which it is mounted.
    const cgroups = join(folder, 'cgroup');
    await mkdir(cgroups, { recursive: true });
    await mount('--rbind', '/sys/fs/cgroup', cgroups);
    await mount('-t', 'sysfs', 'sysfs', '/sys');
    await mount('--move', cgroups, '/sys/fs/cgroup');
    for (const [name, value] of Object.entries(machineSysctls)) {
      const file = join(folder, 'sysctl', name);
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, `${value}\n`);
      await mount('--bind', file, `/proc/sys/${name}`);
    }
    await mount('--make-rshared', '/');
    for (const name of ['net.ipv4.ip_forward', 'net.bridge.bridge-nf-call-iptables']) {
      await this.run('sysctl', '--quiet', '--write', `${name}=1`);
    }
  }

  /** Resolves when the first process has exited, and all others with it. */
  async exited(): Promise<void> {
    if (this.#first.exitCode === null && this.#first.signalCode === null) await once(this.#first, 'exit');
  }

  /** Ends all processes of the namespaces, and the namespaces with them. */
  async stop(): Promise<void> {
    this.#first.stdin!.destroy();
    await this.exited();
  }
}

/** Waits for the first line of output of the child of `unshare`, and returns the id of this child. */
async function childOf(parent: ChildProcess): Promise<number> {
  const [ready] = await Promise.race([
    once(parent.stdout!, 'data'),
    once(parent, 'exit').then(([code]) => [`unshare exited with code ${code}`]),
  ]);
  if (String(ready).trim() !== 'ready') throw new Error(String(ready));
  return childPid(parent.pid!);
}

/** Returns the id of the only child of a process. */
export async function childPid(parent: number): Promise<number> {
  const pid = Number((await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).trim());
  if (!pid) throw new Error(`process ${parent} has no single child process`);
  return pid;
}
