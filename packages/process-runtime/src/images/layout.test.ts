import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import { temporaryFolder, writeLayout } from '../testing/images.ts';
import { imagesIn } from './layout.ts';
import { parseImage } from './reference.ts';
import { ImageResolver } from './resolver.ts';

const name = 'registry.example/tool:1';

test('an image has the files of its layers, without those that a later layer removes', async (context) => {
  const folder = temporaryFolder(context);
  writeLayout(join(folder, 'images/tool'), name, [
    { 'bin/real': '#!', 'bin/tool': { link: '/bin/real' }, 'etc/old': 'x', 'etc/kept': 'y', 'var/cache/a': 'a' },
    { 'etc/.wh.old': '', 'var/cache/.wh..wh..opq': '', 'var/cache/b': 'b' },
  ]);
  const resolver = new ImageResolver([
    imagesIn({ folder: join(folder, 'images'), cacheFolder: join(folder, 'cache') }),
  ]);
  const image = await resolver.resolve(name);
  const root = image.root!;
  assert.equal(readFileSync(join(root, 'etc/kept'), 'utf8'), 'y');
  assert.equal(existsSync(join(root, 'etc/old')), false);
  assert.equal(existsSync(join(root, 'etc/.wh.old')), false);
  assert.equal(existsSync(join(root, 'var/cache/a')), false);
  assert.equal(existsSync(join(root, 'var/cache/b')), true);
  assert.deepEqual([image.entrypoint, image.arguments, image.workingDir], [['/bin/tool'], ['serve'], '/data']);
  assert.deepEqual(image.env, { PATH: '/bin', MODE: 'image' });
  // The link is resolved in the image, not on the machine, and the name of the link stays.
  assert.deepEqual(image.executable('tool'), { path: join(root, 'bin/real'), inside: '/bin/tool' });
  assert.equal(image.executable('none'), undefined);
  await assert.rejects(resolver.resolve('registry.example/other:1'), (error) => hasCode(error, 'ErrImagePull'));
});

test('an archive of a layout is unpacked', async (context) => {
  const folder = temporaryFolder(context);
  writeLayout(join(folder, 'layout'), name, [{ 'bin/tool': '#!' }]);
  mkdirSync(join(folder, 'images'));
  execFileSync('tar', [
    '--create',
    `--file=${join(folder, 'images/tool.tar')}`,
    `--directory=${join(folder, 'layout')}`,
    '.',
  ]);
  const source = imagesIn({ folder: join(folder, 'images'), cacheFolder: join(folder, 'cache') });
  const [first, second] = await Promise.all([source(name, parseImage(name)), source(name, parseImage(name))]);
  assert.equal(first?.executable('/bin/tool')?.inside, '/bin/tool');
  assert.equal(second?.root, first?.root);
});

test('a changed blob and a layer that writes out of the image are rejected', async (context) => {
  const folder = temporaryFolder(context);
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeLayout(join(folder, 'hostile'), name, [{ escape: { link: outside } }, { 'escape/file': 'x' }]);
  const hostile = imagesIn({ folder: join(folder, 'hostile'), cacheFolder: join(folder, 'cache') });
  await assert.rejects(
    async () => hostile(name, parseImage(name)),
    (error) => hasCode(error, 'InvalidImage'),
  );
  assert.equal(existsSync(join(outside, 'file')), false);

  const changed = join(folder, 'changed');
  writeLayout(changed, name, [{ 'bin/tool': '#!' }]);
  const index = JSON.parse(readFileSync(join(changed, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
  writeFileSync(join(changed, 'blobs', ...index.manifests[0]!.digest.split(':')), '{"config":{},"layers":[]}');
  const source = imagesIn({ folder: changed, cacheFolder: join(folder, 'cache') });
  await assert.rejects(
    async () => source(name, parseImage(name)),
    (error) => hasCode(error, 'InvalidImage'),
  );
});

test('the parts of an image reference', () => {
  assert.deepEqual(parseImage('etcd'), { repository: 'etcd', name: 'etcd', tag: 'latest', digest: undefined });
  assert.deepEqual(parseImage('localhost:5000/a/etcd:v3'), {
    repository: 'localhost:5000/a/etcd',
    name: 'etcd',
    tag: 'v3',
    digest: undefined,
  });
  assert.equal(parseImage('localhost:5000/etcd').repository, 'localhost:5000/etcd');
  assert.deepEqual(parseImage('r/etcd@sha256:ab'), {
    repository: 'r/etcd',
    name: 'etcd',
    tag: undefined,
    digest: 'sha256:ab',
  });
});
