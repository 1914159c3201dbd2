import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { temporaryFolder, writeLayout } from '../testing/images.ts';
import { parseImage } from './reference.ts';
import { imagesFromRegistries } from './registry.ts';

const token = 'Bearer granted';

/** A registry with one image, which requires a token of its token server. */
async function startRegistry(context: TestContext, layout: string, manifest: string) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://registry');
    requests.push(pathname);
    const { host, authorization } = request.headers;
    if (pathname === '/token') {
      const isKnown = authorization === `Basic ${Buffer.from('user:secret').toString('base64')}`;
      const isFor = searchParams.get('scope') === 'repository:team/tool:pull';
      response.writeHead(isKnown && isFor ? 200 : 401).end(JSON.stringify({ token: 'granted' }));
      return;
    }
    if (authorization !== token) {
      const challenge = `Bearer realm="http://${host}/token",service="registry",scope="repository:team/tool:pull"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    const [, kind, reference] = /^\/v2\/team\/tool\/(manifests|blobs)\/(.+)$/.exec(pathname) ?? [];
    const digest = kind === 'manifests' && reference === '1' ? manifest : reference;
    const file = join(layout, 'blobs', ...(digest ?? '').split(':'));
    if (digest?.startsWith('sha256:') && existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test('an image is downloaded with a token, unpacked, and then used without the registry', async (context) => {
  const folder = temporaryFolder(context);
  const layout = join(folder, 'layout');
  const manifest = writeLayout(layout, 'any', [{ 'bin/tool': '#!' }, { 'etc/b': 'b' }]);
  const { host, requests } = await startRegistry(context, layout, manifest);
  const options = {
    cacheFolder: join(folder, 'cache'),
    clock: systemClock,
    random: systemRandom,
    isInsecure: () => true,
    credentials: () => ({ username: 'user', password: 'secret' }),
  };
  const name = `${host}/team/tool:1`;
  const source = imagesFromRegistries(options);
  const [image, same] = await Promise.all([source(name, parseImage(name)), source(name, parseImage(name))]);
  assert.equal(same, image);
  assert.equal(image?.id, manifest);
  assert.equal(image?.executable('tool')?.inside, '/bin/tool');
  assert.equal(readFileSync(join(image!.root!, 'etc/b'), 'utf8'), 'b');
  const count = requests.length;
  const again = await imagesFromRegistries(options)(name, parseImage(name));
  assert.equal(again?.root, image?.root);
  assert.equal(requests.length, count);

  const byDigest = `${host}/team/tool@${manifest}`;
  assert.equal((await source(byDigest, parseImage(byDigest)))?.root, image?.root);
});

test('a missing image, wrong credentials and a name without a registry', async (context) => {
  const folder = temporaryFolder(context);
  const layout = join(folder, 'layout');
  const manifest = writeLayout(layout, 'any', [{ 'bin/tool': '#!' }]);
  const { host } = await startRegistry(context, layout, manifest);
  const base = { cacheFolder: join(folder, 'cache'), clock: systemClock, random: systemRandom, isInsecure: () => true };
  const source = imagesFromRegistries({ ...base, credentials: () => ({ username: 'user', password: 'secret' }) });
  const pull = async (name: string, from = source) => from(name, parseImage(name));
  await assert.rejects(pull(`${host}/team/tool:2`), (error: Error) => {
    assert.match(error.message, /unexpected status 404 for manifests\/2: .*MANIFEST_UNKNOWN/);
    return hasCode(error, 'ErrImagePull');
  });
  const anonymous = imagesFromRegistries(base);
  await assert.rejects(pull(`${host}/team/tool:1`, anonymous), (error) => hasCode(error, 'ErrImagePull'));
  await assert.rejects(pull('127.0.0.1:1/team/tool:1'), (error) => hasCode(error, 'ErrImagePull'));
  assert.equal(await pull('tool:1'), undefined);
  assert.equal(await pull('team/tool:1'), undefined);
});
