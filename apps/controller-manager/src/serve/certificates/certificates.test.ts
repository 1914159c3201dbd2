import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, systemClock, systemRandom } from '@hangar/core';
import { testAuthority, virtualClock } from '@hangar/testkit';
import { serving } from '../testing/serving.ts';
import { ownCertificate } from './own.ts';
import { servingCertificates } from './serving.ts';

const dayMs = 86_400_000;
const unusable = { code: 'CertificateUnusable' };
const world = { clock: systemClock, random: systemRandom };

async function temporary(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-serve-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const fingerprintOf = (certificate: string): string => new X509Certificate(certificate).fingerprint256;

test('one of its own making has the names under which it is reached, and its authority vouches for it', async () => {
  const { certificate } = await servingCertificates({}, '10.1.2.3', world).read();
  const parsed = new X509Certificate(certificate);
  for (const name of ['localhost', hostname()]) assert.ok(parsed.checkHost(name), name);
  for (const address of ['127.0.0.1', '::1', '10.1.2.3']) assert.ok(parsed.checkIP(address), address);
  assert.equal(parsed.publicKey.asymmetricKeyType, 'ec');
  const authority = new X509Certificate(certificate.slice(certificate.indexOf('-----BEGIN', 10)));
  assert.ok(parsed.verify(authority.publicKey) && authority.ca);
});

test('it is kept for its owner only, and used again', async (context) => {
  const folder = join(await temporary(context), 'deep', 'certs');
  const certificates = servingCertificates({ certDir: folder }, '0.0.0.0', world);
  const first = await certificates.read();
  assert.deepEqual((await readdir(folder)).sort(), ['hangar-controller-manager.crt', 'hangar-controller-manager.key']);
  for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.deepEqual(await certificates.read(), first);
});

test('it is made anew when a name is missing, a file is broken, or the two are not each other’s', async (context) => {
  const folder = await temporary(context);
  const read = (bindAddress = '0.0.0.0') => servingCertificates({ certDir: folder }, bindAddress, world).read();
  const first = await read();
  const named = await read('10.1.2.3');
  assert.notEqual(named.certificate, first.certificate);
  for (const kind of ['crt', 'key']) {
    await writeFile(join(folder, `hangar-controller-manager.${kind}`), kind === 'key' ? first.key : 'nonsense');
    const again = await read();
    assert.notEqual(again.certificate, named.certificate);
    assert.ok(new X509Certificate(again.certificate).checkHost('localhost'));
    assert.deepEqual(await read(), again);
  }
});

test('a link in its place is replaced, not followed', async (context) => {
  const folder = await temporary(context);
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, join(folder, 'hangar-controller-manager.key'));
  await servingCertificates({ certDir: folder }, '0.0.0.0', world).read();
  assert.equal(await readFile(victim, 'utf8'), 'precious');
});

test('what others could have put there is not used', async (context) => {
  const folder = await temporary(context);
  const key = join(folder, 'hangar-controller-manager.key');
  const read = () => servingCertificates({ certDir: folder }, '0.0.0.0', world).read();
  let before = await read();
  const isMadeAnew = async (): Promise<boolean> => {
    const [after, kept] = [await read(), before];
    before = after;
    return after.key !== kept.key;
  };
  for (const mode of [0o777, 0o770]) {
    await chmod(folder, mode);
    assert.ok(await isMadeAnew(), 'of a folder that others may write to');
  }
  await chmod(folder, 0o755);
  assert.equal(await isMadeAnew(), false);
  for (const mode of [0o666, 0o640, 0o604]) {
    await chmod(key, mode);
    assert.ok(await isMadeAnew(), 'a key that others may read');
  }
  await rename(key, `${key}.elsewhere`);
  await symlink(`${key}.elsewhere`, key);
  assert.ok(await isMadeAnew(), 'a link');
});

test('a folder that cannot be had is an error with a code', async (context) => {
  const file = join(await temporary(context), 'file');
  await writeFile(file, '');
  await assert.rejects(servingCertificates({ certDir: join(file, 'certs') }, '0.0.0.0', world).read(), unusable);
});

test('it is renewed thirty days before its end, while it serves', async () => {
  const clock = virtualClock({ startMs: Date.parse('2026-01-01T00:00:00Z') });
  const own = ownCertificate({ folder: undefined, hosts: ['localhost'], world: { clock, random: seededRandom(1) } });
  const first = await own.read();
  const seen: string[] = [];
  const ended = new AbortController();
  const observer = {
    onRead: () => {},
    onError: (error: Error) => assert.fail(error),
    onChange: ({ certificate }: { certificate: string }) => void seen.push(new X509Certificate(certificate).validTo),
  };
  const watching = own.watch(first, observer, ended.signal);
  await clock.advance(334 * dayMs);
  assert.equal(seen.length, 0);
  await clock.advance(2 * dayMs);
  assert.equal(seen.length, 1);
  await clock.advance(336 * dayMs);
  assert.equal(seen.length, 2);
  assert.ok(Date.parse(seen[1]!) > clock.now() + 300 * dayMs);
  ended.abort();
  await clock.run(watching);
});

test('one that has less than thirty days left is not used again', async (context) => {
  const folder = await temporary(context);
  const at = (ms: number) => ({ clock: { ...systemClock, now: () => Date.now() + ms }, random: systemRandom });
  const read = (ms: number) => ownCertificate({ folder, hosts: ['localhost'], world: at(ms) }).read();
  const first = await read(0);
  assert.deepEqual(await read(330 * dayMs), first);
  assert.notDeepEqual(await read(340 * dayMs), first);
});

test('files that are given must both be there, readable, and each other’s', async (context) => {
  const folder = await temporary(context);
  const authority = testAuthority();
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(certFile, authority.serving().certificate);
  assert.throws(() => servingCertificates({ certFile }, '0.0.0.0', world), unusable);
  assert.throws(() => servingCertificates({ keyFile }, '0.0.0.0', world), unusable);
  await assert.rejects(serving({ certificates: { certFile, keyFile } }), unusable);
  await writeFile(keyFile, authority.serving().key);
  await assert.rejects(serving({ certificates: { certFile, keyFile } }), unusable);
});

test('files that change serve the connections that come after', async (context) => {
  const folder = await temporary(context);
  const authority = testAuthority();
  const certificates = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const put = async (pair: { certificate: string; key: string }): Promise<string> => {
    for (const [path, text] of [
      [certificates.keyFile, pair.key],
      [certificates.certFile, pair.certificate],
    ] as const) {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    }
    return pair.certificate;
  };
  const first = await put(authority.serving());
  await using server = await serving({ certificates });
  const shown = async (): Promise<string> =>
    (await server.ask('/healthz', { ca: authority.certificate })).certificate.fingerprint256;
  assert.equal(await shown(), fingerprintOf(first));
  const second = fingerprintOf(await put(authority.serving()));
  for (let waited = 0; (await shown()) !== second; waited += 20) {
    assert.ok(waited < 10_000, 'it is not shown');
    await pause(20);
  }
  await writeFile(certificates.keyFile, 'nonsense');
  for (let waited = 0; !server.logged.some((line) => line.includes('the previous one stays in use')); waited += 20) {
    assert.ok(waited < 10_000, 'nobody noticed');
    await pause(20);
  }
  assert.equal(await shown(), second);
});
