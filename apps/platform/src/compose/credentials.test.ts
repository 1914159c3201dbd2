import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { initPki } from '../pki/shared-pki.ts';
import { loadCredentials } from './credentials.ts';

const dayMs = 86_400_000;
const later = (days: number): Clock => ({ ...systemClock, now: () => Date.now() + days * dayMs });

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-pki-'));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const load = (folder: string, hosts: readonly string[] = [], clock: Clock = systemClock) =>
  loadCredentials({ dataDirectory: folder }, hosts, { clock, random: systemRandom });

test('credentials are made once, for their owner only, and name what the server is called', () =>
  inFolder(async (folder) => {
    const made = await load(folder, ['example.com', '10.0.0.1']);
    assert.deepEqual(await load(folder, ['example.com', '10.0.0.1']), made);
    const server = new X509Certificate(made.server.certificate);
    for (const host of ['localhost', 'kubernetes.default.svc', 'example.com']) assert.ok(server.checkHost(host), host);
    for (const address of ['127.0.0.1', '::1', '10.0.0.1']) assert.ok(server.checkIP(address), address);
    const { subject } = new X509Certificate(made.admin.certificate);
    assert.match(subject, /O=system:masters/);
    const ca = new X509Certificate(made.authority.certificate);
    for (const pair of [made.server, made.admin]) assert.ok(new X509Certificate(pair.certificate).verify(ca.publicKey));
    const files = await readdir(join(folder, 'pki'));
    const pairs = ['admin', 'ca', 'front-proxy-ca', 'front-proxy-client', 'server'].flatMap((name) => [
      `${name}.crt`,
      `${name}.key`,
    ]);
    assert.deepEqual(files.sort(), [...pairs, 'sa.key', 'sa.pub'].sort());
    for (const file of files) assert.equal((await stat(join(folder, 'pki', file))).mode & 0o077, 0, file);
  }));

test('a new name makes a new certificate of the server, and nothing else', () =>
  inFolder(async (folder) => {
    const before = await load(folder);
    const after = await load(folder, ['new.example.com']);
    assert.ok(new X509Certificate(after.server.certificate).checkHost('new.example.com'));
    assert.deepEqual([after.authority, after.admin], [before.authority, before.admin]);
  }));

test('what is about to expire is made anew, under the same authority', () =>
  inFolder(async (folder) => {
    const before = await load(folder);
    const kept = await load(folder, [], later(300));
    assert.deepEqual(kept, before);
    const renewed = await load(folder, [], later(340));
    assert.deepEqual(renewed.authority, before.authority);
    assert.notEqual(renewed.server.certificate, before.server.certificate);
    assert.notEqual(renewed.admin.certificate, before.admin.certificate);
  }));

test('a key without its certificate, from a renewal that was cut off, is no pair', () =>
  inFolder(async (folder) => {
    const before = await load(folder);
    await copyFile(join(folder, 'pki', 'admin.key'), join(folder, 'pki', 'server.key'));
    const after = await load(folder);
    assert.notEqual(after.server.certificate, before.server.certificate);
    assert.ok(new X509Certificate(after.server.certificate).checkPrivateKey(createPrivateKey(after.server.key)));
  }));

test('when the authority is another, so is everything else', () =>
  inFolder(async (folder) => {
    const before = await load(folder);
    await rm(join(folder, 'pki', 'ca.crt'));
    const after = await load(folder);
    assert.notEqual(after.authority.certificate, before.authority.certificate);
    const ca = new X509Certificate(after.authority.certificate);
    for (const pair of [after.server, after.admin])
      assert.ok(new X509Certificate(pair.certificate).verify(ca.publicKey));
  }));

test('servers that share a folder of keys know each other, write nothing there, and make no CA when it lacks something', () =>
  inFolder(async (folder) => {
    const pkiDirectory = join(folder, 'shared');
    const world = { clock: systemClock, random: systemRandom };
    await initPki(pkiDirectory, world);
    const before = await readdir(pkiDirectory);
    const [one, other] = await Promise.all(
      ['one', 'other'].map((name) => loadCredentials({ dataDirectory: join(folder, name), pkiDirectory }, [], world)),
    );
    assert.deepEqual(await readdir(pkiDirectory), before);
    assert.deepEqual(
      [one!.authority, one!.frontProxyAuthority, one!.serviceAccountKey],
      [other!.authority, other!.frontProxyAuthority, other!.serviceAccountKey],
    );
    assert.notDeepEqual(one!.server, other!.server);
    const ca = new X509Certificate(other!.authority.certificate);
    assert.ok(new X509Certificate(one!.admin.certificate).verify(ca.publicKey));
    const own = await readdir(join(folder, 'one', 'pki'));
    assert.ok(!own.some((file) => before.includes(file)), own.join());
    await rm(join(pkiDirectory, 'front-proxy-ca.key'));
    await assert.rejects(
      loadCredentials({ dataDirectory: join(folder, 'one'), pkiDirectory }, [], world),
      /--pki-dir: .*front-proxy-ca\.key is missing/,
    );
    assert.ok(!(await readdir(pkiDirectory)).includes('front-proxy-ca.key'));
  }));
