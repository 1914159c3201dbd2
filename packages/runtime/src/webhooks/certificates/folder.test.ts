import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { testAuthority } from '@hangar/testkit';
import type { CertificatePair } from './contract.ts';
import { certificateFolder } from './folder.ts';

const authority = testAuthority();

interface Mounted extends AsyncDisposable {
  readonly folder: string;
  /** Swaps as a kubelet does: a new folder, and one rename that activates it. */
  swap(pair: CertificatePair): Promise<void>;
}

async function mounted(pair: CertificatePair): Promise<Mounted> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-certificates-'));
  let versions = 0;
  const swap = async ({ certificate, key }: CertificatePair): Promise<void> => {
    const name = `..2026_${++versions}`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'tls.crt'), certificate);
    await writeFile(join(folder, name, 'tls.key'), key);
    await symlink(name, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  await swap(pair);
  await symlink('..data/tls.crt', join(folder, 'tls.crt'));
  await symlink('..data/tls.key', join(folder, 'tls.key'));
  return { folder, swap, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

class Observed {
  readonly changes: CertificatePair[] = [];
  readonly errors: Error[] = [];
  reads = 0;
  onChange = (pair: CertificatePair): void => void this.changes.push(pair);
  onError = (error: Error): void => void this.errors.push(error);
  onRead = (): void => void this.reads++;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 5) {
    assert.ok(waited < 10_000, 'not so in time');
    await pause(5);
  }
}

test('what is mounted is read', async () => {
  const pair = authority.serving();
  await using mount = await mounted(pair);
  assert.deepEqual(await certificateFolder(mount.folder).read(), pair);
});

test('a folder that is exchanged as a whole is noticed at once, without waiting for the next look', async () => {
  const [first, second, third] = [authority.serving(), authority.serving(), authority.serving()];
  await using mount = await mounted(first);
  const ended = new AbortController();
  const observed = new Observed();
  const watching = certificateFolder(mount.folder, { pollMs: 3_600_000 }).watch(first, observed, ended.signal);
  await mount.swap(second);
  await until(() => observed.changes.length === 1);
  await mount.swap(third);
  await until(() => observed.changes.length === 2);
  assert.deepEqual(observed.changes, [second, third]);
  assert.deepEqual(observed.errors, []);
  ended.abort();
  await watching;
});

test('files that are written in place are noticed; a key of another certificate is an error until its own comes', async () => {
  const [first, second] = [authority.serving(), authority.serving()];
  const folder = await mkdtemp(join(tmpdir(), 'hangar-certificates-'));
  await writeFile(join(folder, 'tls.crt'), first.certificate);
  await writeFile(join(folder, 'tls.key'), first.key);
  const ended = new AbortController();
  const observed = new Observed();
  const watching = certificateFolder(folder).watch(first, observed, ended.signal);
  await writeFile(join(folder, 'tls.crt'), second.certificate);
  await until(() => observed.errors.length > 0);
  assert.deepEqual([observed.errors[0]!.name, observed.changes], ['CertificateFailed', []]);
  await writeFile(join(folder, 'tls.key'), second.key);
  await until(() => observed.changes.length === 1);
  assert.deepEqual(observed.changes, [second]);
  ended.abort();
  await watching;
  await rm(folder, { recursive: true });
});

test('where a file system tells nothing, the clock does: here the folder itself is another one', async () => {
  const [first, second] = [authority.serving(), authority.serving()];
  await using mount = await mounted(first);
  await using next = await mounted(second);
  const link = `${mount.folder}-link`;
  await symlink(mount.folder, link);
  const ended = new AbortController();
  const observed = new Observed();
  const watching = certificateFolder(link, { pollMs: 20 }).watch(first, observed, ended.signal);
  await until(() => observed.reads > 1);
  assert.deepEqual(observed.changes, []);
  await rm(link);
  await symlink(next.folder, link);
  await until(() => observed.changes.length === 1);
  assert.deepEqual(observed.changes, [second]);
  ended.abort();
  await watching;
  await rm(link);
});

test('a folder that goes away is an error again and again, and good again when it comes back', async () => {
  const [first, second] = [authority.serving(), authority.serving()];
  const mount = await mounted(first);
  const ended = new AbortController();
  const observed = new Observed();
  const watching = certificateFolder(mount.folder, { pollMs: 20 }).watch(first, observed, ended.signal);
  await rm(mount.folder, { recursive: true });
  await until(() => observed.errors.length >= 2);
  await mkdir(mount.folder);
  await writeFile(join(mount.folder, 'tls.crt'), second.certificate);
  await writeFile(join(mount.folder, 'tls.key'), second.key);
  await until(() => observed.changes.length === 1);
  ended.abort();
  await watching;
  await mount[Symbol.asyncDispose]();
});

test('what cannot be used is refused', async () => {
  const pair = authority.serving();
  for (const wrong of [
    { ...pair, key: authority.serving().key },
    { ...pair, certificate: 'not a certificate' },
    { ...pair, key: '' },
  ]) {
    await using mount = await mounted(wrong);
    await assert.rejects(certificateFolder(mount.folder).read(), { code: 'CertificateFailed' });
  }
  await assert.rejects(certificateFolder(join(tmpdir(), 'hangar-nothing-here')).read(), { code: 'CertificateFailed' });
});

test('watching ends with its signal, however often it is asked', async () => {
  const pair = authority.serving();
  await using mount = await mounted(pair);
  for (const pollMs of [1, 1, 1, 3_600_000]) {
    const ended = new AbortController();
    const watching = certificateFolder(mount.folder, { pollMs }).watch(pair, new Observed(), ended.signal);
    await pause(pollMs % 7);
    ended.abort();
    await watching;
  }
  await certificateFolder(mount.folder).watch(pair, new Observed(), AbortSignal.abort());
});
