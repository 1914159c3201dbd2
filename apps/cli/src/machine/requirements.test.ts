import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { InstalledPrograms, programNames, executableOf } from './programs.ts';
import { folderProblem, missingOf, missingPrograms } from './requirements.ts';
import type { Machine } from './requirements.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-machine-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function install(...path: string[]): Promise<string> {
  const file = join(folder, ...path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, '');
  await chmod(file, 0o755);
  return file;
}

const commands = ['sh', 'cat', 'unshare', 'nsenter', 'ip', 'mount', 'hostname', 'sysctl', 'mkdir'];
const allFilesystems = 'nodev\toverlay\nnodev\ttmpfs\nnodev\tsysfs\nnodev\tproc\n\text4\n';

/** A machine that meets all requirements, with these changes. */
async function machine(changes: Partial<Machine> = {}): Promise<Machine> {
  for (const name of commands) await install('bin', name);
  return {
    platform: 'linux',
    userId: 0,
    env: { PATH: join(folder, 'bin') },
    exists: () => true,
    readText: async (path) => (path === '/proc/filesystems' ? allFilesystems : 'cpuset cpu io memory pids\n'),
    run: async () => '',
    ...changes,
  };
}

describe('the requirements of namespaces', () => {
  test('a machine that meets all of them lacks nothing', async () => {
    assert.deepEqual(await missingOf(await machine()), []);
  });

  test('another operating system is the only line', async () => {
    assert.deepEqual(await missingOf(await machine({ platform: 'darwin' })), ['Linux (this machine runs darwin)']);
  });

  test('root, programs and filesystems are listed together', async () => {
    const empty = await machine({ userId: 1000, env: {}, readText: async () => 'nodev\tproc\ncpu memory pids\n' });
    const missing = await missingOf(empty);
    assert.ok(missing.includes('root: run the command with sudo'));
    assert.ok(missing.includes('the program unshare on PATH'));
    assert.ok(missing.includes('the filesystem overlay in the kernel: modprobe overlay'));
  });

  test('controllers of cgroups are checked in version 2', async () => {
    const readText = async (path: string): Promise<string> =>
      path === '/proc/filesystems' ? allFilesystems : 'cpuset cpu io pids\n';
    assert.deepEqual(await missingOf(await machine({ readText })), ['the cgroup controller memory']);
  });

  test('controllers of cgroups are checked in version 1', async () => {
    const absent = new Set(['/sys/fs/cgroup/cgroup.controllers', '/sys/fs/cgroup/pids']);
    const exists = (path: string): boolean => !absent.has(path);
    assert.deepEqual(await missingOf(await machine({ exists })), ['the cgroup controller pids']);
  });

  test('the filter of bridges is a kernel module', async () => {
    const exists = (path: string): boolean => !path.startsWith('/proc/sys/net/bridge/');
    assert.deepEqual(await missingOf(await machine({ exists })), [
      'the kernel module br_netfilter: modprobe br_netfilter',
    ]);
  });

  test('namespaces that the system does not allow are reported with its reason', async () => {
    const run = async (): Promise<string> => Promise.reject(new Error('unshare: Operation not permitted'));
    assert.deepEqual(await missingOf(await machine({ run })), ['namespaces: unshare: Operation not permitted']);
  });
});

describe('the programs of a node', () => {
  const search = (folders: string[] = [], env: Record<string, string> = {}): InstalledPrograms =>
    new InstalledPrograms({ folders, env: { HANGAR_TOOLS_CACHE: join(folder, 'cache'), ...env }, homeFolder: folder });

  test('given folders come before PATH, and PATH before the cache', async () => {
    const [cached, onPath, given] = [
      await install('cache', 'kubelet', 'v1.36.4-linux-amd64', 'kubelet'),
      await install('path', 'kubelet'),
      await install('given', 'kubelet'),
    ];
    const env = { PATH: join(folder, 'path') };
    assert.equal(await search([join(folder, 'given')], env).find('kubelet'), given);
    assert.equal(await search([], env).find('kubelet'), onPath);
    await rm(onPath);
    assert.ok([cached, '/usr/local/bin/kubelet', '/usr/bin/kubelet'].includes(await search([], env).path('kubelet')));
  });

  test('the newest version of the cache is taken', async () => {
    const old = await install('cache', 'containerd-shim-runc-v2', 'v2.9.0-linux-amd64', 'containerd-shim-runc-v2');
    const newest = await install('cache', 'containerd-shim-runc-v2', 'v2.10.0-linux-amd64', 'containerd-shim-runc-v2');
    const found = await search().path('containerd-shim-runc-v2');
    assert.notEqual(found, old);
    assert.ok(found === newest || !found.startsWith(folder));
  });

  test('a plugin is not searched on PATH: other packages have a program of the name bridge', async () => {
    const other = await install('path', 'bridge');
    assert.notEqual(await search([], { PATH: join(folder, 'path') }).find('cni-bridge'), other);
    const plugin = await install('given', 'bridge');
    assert.equal(await search([join(folder, 'given')]).find('cni-bridge'), plugin);
  });

  test('an old containerd is reported with its version', async () => {
    for (const name of programNames) await install('given', executableOf(name));
    const programs = search([join(folder, 'given')]);
    const run = async (): Promise<string> => 'containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1\n';
    assert.deepEqual(await missingPrograms(programs, { run }), [
      `containerd 2.0 or newer: ${join(folder, 'given', 'containerd')} has version 1.6.20~ds1`,
    ]);
    const newer = async (): Promise<string> => 'containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7\n';
    assert.deepEqual(await missingPrograms(programs, { run: newer }), []);
  });
});

describe('the folder of a node', () => {
  test('is outside of the folders that a node replaces', async () => {
    assert.match((await folderProblem('/var/lib/hangar/nodes/a'))!, /it is in \/var/);
    assert.match((await folderProblem('/etc'))!, /it is in \/etc/);
    assert.doesNotMatch((await folderProblem('/variable/a')) ?? '', /it is in \/var/);
  });

  test('has no characters that mount options or configuration files would need to escape', async () => {
    assert.match((await folderProblem('/srv/a,b'))!, /special characters/);
    assert.match((await folderProblem("/srv/it's"))!, /special characters/);
  });
});
