/** Builds the image by its own steps, and runs it as Kubernetes does: as an unprivileged user, on a read-only file system. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { release } from '@hangar/api';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { Ground } from '../controller-manager/testing/ground.ts';
import { execForm } from './testing/containerfile.ts';
import { root, version } from './testing/files.ts';
import { buildImage } from './testing/image.ts';
import type { Built, BuiltImage } from './testing/image.ts';

const uid = 65_532;

describe('the image', () => {
  let folder: string;
  let image: BuiltImage;
  let entrypoint: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-image-'));
    // This machine is the base system: the package manager is skipped.
    const isLeftOut = ({ text }: { text: string }): boolean => text.startsWith('apt-get ');
    image = await buildImage(join(root, 'deploy/image/Containerfile'), { folder, isLeftOut });
    entrypoint = execForm(image.instructions.find(({ name }) => name === 'ENTRYPOINT')!);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const inImage = (...args: readonly string[]) => {
    const command = image.command(args);
    return run(command.path, command.args, { timeoutMs: 30_000 });
  };

  test('has its own Node of the package, and neither the tools of developers nor their files', async () => {
    const { optionalDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const { stdout } = await inImage('node', '--version');
    assert.equal(stdout.trim(), `v${optionalDependencies[`node-linux-${process.arch}`]}`);
    const modules = await readdir(image.placeOf('/opt/hangar/node_modules'));
    for (const name of ['typescript', 'oxlint', 'oxfmt', 'fast-check', '@types'])
      assert.ok(!modules.includes(name), name);
    assert.ok(!modules.some((name) => name.startsWith('node-linux')), modules.join());
    const files = await readdir(image.placeOf('/opt/hangar/packages'), { recursive: true });
    assert.ok(!files.some((name) => /\.(test|real)\.ts$|(^|\/)testing(\/|$)/.test(name)));
  });

  test('needs no library that Debian’s base and libatomic1 do not have', async () => {
    const { stdout } = await run('ldd', [image.placeOf('/usr/local/bin/node')], { timeoutMs: 10_000 });
    const libraries = [...stdout.matchAll(/^\s+(lib[^.]+)\.so/gm)].map(([, name]) => name!);
    const there = new Set(['libatomic', 'libc', 'libdl', 'libgcc_s', 'libm', 'libpthread', 'libstdc++']);
    assert.deepEqual(
      libraries.filter((name) => !there.has(name)),
      [],
    );
  });

  test('says its version by the name that people type', async () => {
    const { stdout, stderr } = await inImage('hangar', 'version');
    assert.match(stdout, new RegExp(version.replaceAll('.', '\\.')), stderr);
  });

  test('serves as a user without rights where it can write nothing but its data, from compiled code', async () => {
    const data = '/var/lib/hangar';
    await mkdir(image.placeOf(data), { recursive: true });
    await chown(image.placeOf(data), uid, uid);
    const words = [...entrypoint, 'up', `--data-dir=${data}`, '--listen=127.0.0.1:0'];
    const { path, args } = image.command(words, data);
    const server = spawn(path, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
    try {
      const said: string[] = [];
      createInterface({ input: server.stderr }).on('line', (line) => said.push(line));
      const url = await readyUrl(server, said);
      const ca = await readFile(join(image.placeOf(data), 'pki/ca.crt'), 'utf8');
      assert.equal(await statusOf(`${url}/readyz`, ca), 200);
      assertCompiled(said);
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
    } finally {
      server.kill('SIGKILL');
    }
  });

  test('of the controller manager runs Kubernetes’ own programs in the same way', async () => {
    await using ground = await Ground.start();
    await ground.up.create('red');
    const manager = await managerImage();
    const data = '/var/lib/hangar';
    const kubeconfig = join(manager.placeOf(data), 'management.kubeconfig');
    await cp(join(ground.up.dataFolder, 'admin.kubeconfig'), kubeconfig);
    for (const path of [manager.placeOf(data), kubeconfig]) await chown(path, uid, uid);
    const words = execForm(manager.instructions.find(({ name }) => name === 'CMD')!);
    const flags = [
      `--kubeconfig=${data}/management.kubeconfig`,
      `--work-dir=${data}/work`,
      '--secure-port=0',
      '--engine=kube',
    ];
    const { path, args } = manager.command([...entrypoint, ...words, ...flags], data);
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const server = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    try {
      const said: string[] = [];
      createInterface({ input: server.stderr }).on('line', (line) => said.push(line));
      await readyUrl(server, said);
      assertCompiled(said);
      await ground.register('red', ['controllers', 'scheduler']);
      await ground.served('red', 'controllers');
      await ground.served('red', 'scheduler');
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
      assert.deepEqual(await readdir(join(manager.placeOf(data), 'work/children')), []);
    } finally {
      server.kill('SIGKILL');
    }
  });

  /** Built from the earlier image, and from images with the programs of this machine. */
  async function managerImage(): Promise<BuiltImage> {
    const bases: Record<string, Built> = { [`hangar:${version}`]: image };
    for (const name of ['kube-controller-manager', 'kube-scheduler'] as const) {
      const place = join(folder, name);
      await mkdir(join(place, 'usr/local/bin'), { recursive: true });
      await cp(await tool(name), join(place, 'usr/local/bin', name));
      bases[`kubernetes/${name}:v${release}`] = { place, user: '0:0' };
    }
    const args = { KUBERNETES_IMAGES: 'kubernetes' };
    const target = join(folder, 'controller-manager');
    return buildImage(join(root, 'deploy/image/controller-manager.Containerfile'), { folder: target, args, bases });
  }

  test('says what is wrong when its data cannot be kept', async () => {
    const { failure, stderr } = await inImage(
      ...entrypoint,
      'up',
      '--data-dir=/var/lib/hangar',
      '--listen=127.0.0.1:0',
    );
    assert.match(failure ?? '', /exit code/);
    assert.match(stderr, /^hangar: .*\/var\/lib\/hangar/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });
});

/** By Node's debug output about its cache. */
function assertCompiled(said: readonly string[]): void {
  const used = said.filter((line) => /V8 code cache for .* was accepted/.test(line)).length;
  const compiled = said.filter((line) => /V8 code cache for .* was (not initialized|rejected)/.test(line)).length;
  console.log(`${used} files from compiled code, ${compiled} without`);
  assert.ok(used > 200 && compiled < used / 20, said.slice(-5).join('\n'));
}

async function readyUrl(server: ChildProcess, said: readonly string[]): Promise<string> {
  for await (const line of createInterface({ input: server.stdout! })) {
    const [, url] = /^ready (https:\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`it ended: ${said.slice(-20).join('\n')}`);
}

const statusOf = (url: string, ca: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { ca }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    }).on('error', reject);
  });
