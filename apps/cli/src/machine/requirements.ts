/** Checks that this machine can run a node, before anything is created. */

import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { run } from './command.ts';
import { executableOf, isExecutable, programNames } from './programs.ts';
import type { InstalledPrograms } from './programs.ts';

/** The parts of this machine that the checks read. */
export interface Machine {
  readonly platform: string;
  readonly userId: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  readText(path: string): Promise<string>;
  run(program: string, ...args: readonly string[]): Promise<string>;
}

export const thisMachine = (env: Readonly<Record<string, string | undefined>> = process.env): Machine => ({
  platform: process.platform,
  userId: process.getuid?.(),
  env,
  exists: existsSync,
  readText: (path) => readFile(path, 'utf8'),
  run,
});

const commands = ['sh', 'cat', 'unshare', 'nsenter', 'ip', 'mount', 'hostname', 'sysctl', 'mkdir'];
const filesystems = ['overlay', 'tmpfs', 'sysfs', 'proc'];
const controllers = ['cpu', 'memory', 'pids'];
const bridgeFilter = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const containerdMajorMin = 2;

/** Returns a line for each requirement that the machine does not meet. Empty: it can run namespaces of nodes. */
export async function missingOf(machine: Machine): Promise<string[]> {
  if (machine.platform !== 'linux') return [`Linux (this machine runs ${machine.platform})`];
  const missing: string[] = [];
  if (machine.userId !== 0) missing.push('root: run the command with sudo');
  for (const name of commands) {
    if (!(await isOnPath(name, machine.env))) missing.push(`the program ${name} on PATH`);
  }
  const known = await machine.readText('/proc/filesystems');
  for (const name of filesystems) {
    if (!new RegExp(`\\t${name}$`, 'm').test(known)) {
      missing.push(`the filesystem ${name} in the kernel: modprobe ${name}`);
    }
  }
  missing.push(...(await missingControllers(machine)));
  if (!machine.exists(bridgeFilter)) missing.push('the kernel module br_netfilter: modprobe br_netfilter');
  if (missing.length === 0) {
    const namespaces = ['--net', '--mount', '--pid', '--fork', '--uts', '--ipc', '--mount-proc', 'true'];
    await machine.run('unshare', ...namespaces).catch((error: Error) => missing.push(`namespaces: ${error.message}`));
  }
  return missing;
}

async function missingControllers({ exists, readText }: Machine): Promise<string[]> {
  const root = '/sys/fs/cgroup';
  if (!exists(root)) return [`cgroups (version 1 or 2) at ${root}`];
  const unified = join(root, 'cgroup.controllers');
  const isUnified = exists(unified);
  const enabled = isUnified ? (await readText(unified)).trim().split(/\s+/) : [];
  return controllers
    .filter((name) => (isUnified ? !enabled.includes(name) : !exists(join(root, name))))
    .map((name) => `the cgroup controller ${name}`);
}

/** Returns a line for each program of a node that is not installed or too old. */
export async function missingPrograms(programs: InstalledPrograms, { run }: Pick<Machine, 'run'>): Promise<string[]> {
  const missing: string[] = [];
  for (const name of programNames) {
    if ((await programs.find(name)) === undefined) missing.push(installHint(executableOf(name), name));
  }
  const containerd = await programs.find('containerd');
  if (containerd === undefined) return missing;
  const text = await run(containerd, '--version').catch((error: Error) => error.message);
  const version = /\bv?((\d+)\.\d+\.\d+\S*)/.exec(text);
  if (!version) missing.push(`containerd ${containerdMajorMin}.0 or newer: ${containerd} does not report its version`);
  else if (Number(version[2]) < containerdMajorMin) {
    missing.push(`containerd ${containerdMajorMin}.0 or newer: ${containerd} has version ${version[1]}`);
  }
  return missing;
}

const installHint = (file: string, name: string): string =>
  name.startsWith('cni-')
    ? `the CNI plugin ${file}, in /opt/cni/bin, /usr/lib/cni, /usr/libexec/cni or a folder of --bin-dirs`
    : `the program ${file}, on PATH or in a folder of --bin-dirs`;

const overlayType = 0x79_4c_76_30;

/** Returns the reason why the files of a node cannot be in the folder; undefined: they can. The folder need not exist. */
export async function folderProblem(folder: string): Promise<string | undefined> {
  const covered = ['/etc', '/run', '/sys', '/proc', '/var'].find(
    (one) => folder === one || folder.startsWith(`${one}/`),
  );
  if (covered !== undefined) return `it is in ${covered}, which a node replaces by its own files`;
  // Mount options and configuration files are built from it.
  if (!/^[\w./@+=-]+$/.test(folder)) return 'its path has special characters';
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { type } = await statfs(existing);
  return type === overlayType ? 'it is on an overlay filesystem, which cannot contain another one' : undefined;
}

async function isOnPath(name: string, env: Machine['env']): Promise<boolean> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder !== '' && (await isExecutable(join(folder, name)))) return true;
  }
  return false;
}
