import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';
import { temporaryFolder, writeLayout } from '@hangar/process-runtime/testing';
import { Programs } from '../services/hosted/programs.ts';
import { componentImages } from './component-images.ts';
import { installProgram } from './install.ts';
import { tools } from './main.ts';

const run = promisify(execFile);

/** A registry without authentication that has images of these programs: shell scripts that print a version. */
async function startRegistry(context: TestContext, programs: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(context);
  const manifests = new Map<string, string>();
  for (const [image, version] of Object.entries(programs)) {
    const name = image.slice(image.lastIndexOf('/') + 1, image.indexOf(':'));
    const script = `#!/bin/sh\necho "Kubernetes ${version}"\n`;
    const layout = join(folder, name);
    manifests.set(image.replace(':', '/manifests/'), writeLayout(layout, image, [{ [`bin/${name}`]: script }]));
  }
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    const digest = manifests.get(url.replace('/v2/', '')) ?? url.slice(url.lastIndexOf('/') + 1);
    const file = readdirSync(folder)
      .map((name) => join(folder, name, 'blobs', ...digest.split(':')))
      .find((one) => digest.startsWith('sha256:') && existsSync(one));
    if (file) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const optionsFor = (folder: string, registry: string) => ({
  clock: systemClock,
  random: systemRandom,
  tools: folder,
  registry,
  isInsecure: true,
  onPull: () => {},
});

test('the images are those of the rendering of a version', () => {
  assert.deepEqual(componentImages('v1.36.4'), [
    'registry.k8s.io/etcd:3.6.8-0',
    'registry.k8s.io/kube-apiserver:v1.36.4',
    'registry.k8s.io/kas-network-proxy/proxy-server:v0.36.0',
    'registry.k8s.io/kube-controller-manager:v1.36.4',
    'registry.k8s.io/kube-scheduler:v1.36.4',
  ]);
  assert.throws(() => componentImages('v1.20.0'), /version "v1\.20\.0" is not supported/);
  assert.throws(() => componentImages('newest'), UsageError);
});

test('a program of an image is installed once, where hosted control planes find it', async (context) => {
  const registry = await startRegistry(context, { 'kube-scheduler:v1.36.4': 'v1.36.4' });
  const folder = temporaryFolder(context);
  const options = optionsFor(folder, registry.host);
  const image = 'registry.k8s.io/kube-scheduler:v1.36.4';
  const { path, isNew } = await installProgram(image, options);
  assert.equal(isNew, true);
  assert.equal((await run(path)).stdout, 'Kubernetes v1.36.4\n');
  const programs = new Programs({ folders: [], env: { HANGAR_TOOLS_CACHE: folder }, homeFolder: folder });
  assert.deepEqual(await programs.all(), [{ name: 'kube-scheduler', version: 'v1.36.4', path }]);
  assert.deepEqual(readdirSync(folder), ['kube-scheduler']);
  const count = registry.requests.length;
  assert.equal((await installProgram(image, options)).isNew, false);
  assert.equal(registry.requests.length, count);
});

test('an image without the program, with another version, or not in the registry installs nothing', async (context) => {
  const { host } = await startRegistry(context, { 'kube-scheduler:v1.36.4': 'v1.35.0' });
  const folder = temporaryFolder(context);
  const install = (image: string) => installProgram(image, optionsFor(folder, host));
  const rejects = (image: string, message: RegExp) =>
    assert.rejects(install(image), (error: Error) => {
      assert.match(error.message, message);
      return hasCode(error, 'ErrImagePull');
    });
  await rejects('registry.k8s.io/kube-scheduler:v1.36.4', /reports the version v1\.35\.0/);
  await rejects('registry.k8s.io/kube-apiserver:v1.36.4', /unexpected status 404/);
  assert.deepEqual(readdirSync(folder), []);
});

test('wrong commands and options are usage errors', async () => {
  for (const args of [['install'], ['get', 'v1.36.4', '--wrong'], ['get', 'latest'], ['list', 'etcd']]) {
    await assert.rejects(tools(args), UsageError, args.join(' '));
  }
});
