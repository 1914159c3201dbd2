import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { announce, withdraw } from '@hangar/core/command-line';
import { readOptions } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';
import { explanation } from './explain.ts';

const options = {
  ...(readOptions(['--data-dir=/data', '--store=etcd://a:2379']) as PlatformOptions),
  program: 'npx hangar',
};
const failure = (code: string, more = {}) => Object.assign(new Error(`why ${code}`), { code, ...more });

test('a failure is explained with what to do about it', async () => {
  for (const [error, expected] of [
    [failure('EADDRNOTAVAIL', { syscall: 'listen' }), /address 127\.0\.0\.1 is not available.*--listen/],
    [failure('EACCES', { syscall: 'listen' }), /1024.*--port/],
    [failure('EACCES', { syscall: 'mkdir' }), /--data-dir \(\/data\)/],
    [failure('ENOSPC'), /\/data is full/],
    [failure('Unavailable'), /etcd does not answer at http:\/\/a:2379.*--store/],
    [failure('Unauthenticated'), /--etcd-certfile/],
    [failure('Other'), /^why Other$/],
  ] as const) {
    assert.match((await explanation(error, options))!, expected);
  }
});

test('a port in use is explained with the process that listens there', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = await explanation(failure('EADDRINUSE', { syscall: 'listen' }), { ...options, port });
  assert.match(
    text!,
    new RegExp(`^port ${port} of 127\\.0\\.0\\.1 is in use by process ${process.pid} \\(.*\\)\\n +stop it`),
  );
  assert.ok(text?.includes(`npx hangar up --port ${port === 65_535 ? port - 1 : port + 1}`), text!);
  await new Promise((resolve) => server.close(resolve));
});

test('a data directory in use is explained with the pid and the address of its server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-explain-'));
  try {
    const error = failure('StorageInUse');
    error.message = `${folder} is in use by process 41: stop it`;
    const explained = () => explanation(error, { ...options, dataDirectory: folder });
    await announce(folder, { pid: 40, url: 'https://127.0.0.1:1' });
    assert.match((await explained())!, /is in use by process 41\n/, 'the file of a server that was killed');
    await announce(folder, { pid: 41, url: 'https://127.0.0.1:6443' });
    assert.match(
      (await explained())!,
      /is in use by process 41, which serves https:\/\/127\.0\.0\.1:6443\n.*npx hangar up --data-dir /,
    );
    await withdraw(folder);
    assert.doesNotMatch((await explained())!, /which serves/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an unexpected failure is not explained', async () => {
  assert.equal(await explanation(new TypeError('x is undefined'), options), undefined);
  assert.equal(await explanation('text', options), undefined);
});
