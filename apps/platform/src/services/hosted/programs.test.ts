import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { cacheFolderOf } from '../../../../../tools/world.ts';
import { readOptions } from '../../options/options.ts';
import { hostedOf } from '../../up/hosted.ts';
import { componentPrograms, Programs, toolsFolder } from './programs.ts';

function machine() {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-programs-'));
  return {
    folder,
    /** Writes a program that reports this version. */
    add(path: string, version: string): string {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `#!/bin/sh\necho "Kubernetes ${version}"\n`);
      chmodSync(file, 0o755);
      return file;
    },
    env: (...folders: string[]) => ({
      PATH: folders.map((name) => join(folder, name)).join(':'),
      HANGAR_TOOLS_CACHE: join(folder, 'tools'),
    }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const reference = (name: string, tag: string) => ({
  name,
  tag,
  repository: name,
  registry: 'registry.k8s.io',
  digest: undefined,
});

test('an image stands for the program that reports its version, in the order of the folders', async () => {
  using place = machine();
  const path = place.add('path/kube-apiserver', 'v1.36.4');
  const cached = place.add('tools/kube-apiserver-1.35/v1.35.2-linux-amd64/kube-apiserver', 'v1.35.2');
  const given = place.add('given/kube-apiserver', 'v1.36.4');
  const { folder, env } = place;
  const pathOf = async (programs: Programs, tag: string) =>
    (await programs.source(`registry.k8s.io/kube-apiserver:${tag}`, reference('kube-apiserver', tag)))?.executable(
      'kube-apiserver',
    )?.path;
  const programs = new Programs({ folders: [], env: env('path'), homeFolder: folder });
  assert.equal(await pathOf(programs, 'v1.36.4'), path);
  assert.equal(await pathOf(programs, 'v1.35.2'), cached);
  assert.equal(await programs.imageOf('kube-apiserver'), 'registry.k8s.io/kube-apiserver:v1.36.4');
  const first = new Programs({ folders: [join(folder, 'given')], env: env('path'), homeFolder: folder });
  assert.equal(await pathOf(first, 'v1.36.4'), given);
});

test('the newest version is one that all programs of Kubernetes have', async () => {
  using place = machine();
  const programs = new Programs({ folders: [], env: place.env('path'), homeFolder: place.folder });
  assert.equal(await programs.newestVersion(), undefined);
  for (const name of componentPrograms) {
    place.add(`tools/${name}/v1.9.0-linux-amd64/${name}`, 'v1.9.0');
    place.add(`tools/${name}/v1.35.2-linux-amd64/${name}`, 'v1.35.2');
  }
  place.add('path/kube-apiserver', 'v1.36.4');
  assert.equal(await programs.newestVersion(), 'v1.35.2');
});

test('a program of another version is not run, and the error has the versions of this machine', async () => {
  using place = machine();
  place.add('path/kube-apiserver', 'v1.36.4');
  const programs = new Programs({ folders: [], env: place.env('path'), homeFolder: place.folder });
  await assert.rejects(
    async () => programs.source('registry.k8s.io/kube-apiserver:v1.34.1', reference('kube-apiserver', 'v1.34.1')),
    {
      code: 'ErrImagePull',
      message: /kube-apiserver of this machine has version v1\.36\.4, but the image needs v1\.34\.1/,
    },
  );
  assert.equal(await programs.source('registry.k8s.io/none:1', reference('none', '1')), undefined);
});

test('the tag of an etcd image has no influence: its build number is not the version of the program', async () => {
  using place = machine();
  const path = place.add('path/etcd', 'v3.6.16');
  const programs = new Programs({ folders: [], env: place.env('path'), homeFolder: place.folder });
  const image = await programs.source('registry.k8s.io/etcd:3.6.8-0', reference('etcd', '3.6.8-0'));
  assert.equal(image?.executable('/usr/local/bin/etcd')?.path, path);
});

test('the image of konnectivity stands for the program konnectivity-server', async () => {
  using place = machine();
  const path = place.add('path/konnectivity-server', 'v0.36.0');
  const programs = new Programs({ folders: [], env: place.env('path'), homeFolder: place.folder });
  const image = 'registry.k8s.io/kas-network-proxy/proxy-server:v0.36.0';
  const found = await programs.source(image, reference('proxy-server', 'v0.36.0'));
  assert.equal(found?.executable('/proxy-server')?.path, path);
});

test('the folder of tools is the one that npm run tools writes to', () => {
  const [homeFolder] = ['/home/user'];
  for (const env of [{}, { XDG_CACHE_HOME: '/cache' }, { HANGAR_TOOLS_CACHE: '/tools' }]) {
    assert.equal(toolsFolder({ env, homeFolder }), cacheFolderOf(env, homeFolder));
  }
});

test('hangar up --hosted without the programs names them and the ways to get them', async () => {
  using place = machine();
  for (const name of ['etcd', 'kube-apiserver']) place.add(`path/${name}`, 'v1.36.4');
  const env = place.env('path');
  const options = (...args: string[]) => {
    const read = readOptions([`--data-dir=${join(place.folder, 'data')}`, ...args]);
    assert.ok(typeof read === 'object');
    return read;
  };
  assert.equal(await hostedOf(options(), env), undefined);
  assert.equal(await hostedOf(options('--bare'), env), undefined);
  const door = options('--front-door-listen=:7443');
  await assert.rejects(hostedOf(door, env), /--front-door-listen needs --hosted/);
  const isExplained = (way: RegExp) => (error: Error) => {
    assert.ok(error instanceof UsageError);
    assert.match(
      error.message,
      /^hosted control planes need the programs kube-controller-manager, kube-scheduler, which/,
    );
    assert.match(error.message, /npm run tools -- kube-controller-manager kube-scheduler\n/);
    return way.test(error.message);
  };
  await assert.rejects(hostedOf(options('--hosted'), env), isExplained(/start without --hosted/));
  // The data directory has hosted control planes of an earlier start.
  mkdirSync(join(place.folder, 'data/hosted'), { recursive: true });
  await assert.rejects(hostedOf(options(), env), isExplained(/start with --hosted=false/));
  assert.equal(await hostedOf(options('--hosted=false'), env), undefined);
  for (const name of componentPrograms) place.add(`path/${name}`, 'v1.36.4');
  const hosted = await hostedOf(options(), env);
  assert.equal(hosted?.settings.folder, join(place.folder, 'data/hosted'));
});
