import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { announce, announced, commandOf, findServer, memoryOf, withdraw } from './running-server.ts';

async function dataDirectory(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-server-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const url = 'https://127.0.0.1:6443';

test('a server is found by its file while its process runs', async (context) => {
  const folder = await dataDirectory(context);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000); console.log()', 'hangar', 'up']);
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const server = { pid: child.pid!, url, version: '0.1.0', startedAt: 1 };
  await announce(folder, server);
  assert.deepEqual(await findServer(folder), { state: 'running', server });
  assert.ok((await memoryOf(child.pid!))! > 1024 * 1024);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  assert.deepEqual(await findServer(folder), { state: 'stale', server });
  assert.equal(await memoryOf(child.pid!), undefined);
  await withdraw(folder);
  assert.deepEqual(await findServer(folder), { state: 'none' });
});

test('a pid that belongs to another program now is not the server', async (context) => {
  const folder = await dataDirectory(context);
  const child = spawn('sleep', ['600']);
  context.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const server = { pid: child.pid!, url };
  await announce(folder, server);
  assert.deepEqual(await findServer(folder), { state: 'stale', server, command: await commandOf(child.pid!) });
});

test('a file without a valid pid and address is ignored', async (context) => {
  const folder = await dataDirectory(context);
  for (const text of [
    '',
    '{',
    '[]',
    '{"pid":0,"url":"x"}',
    '{"pid":-5,"url":"x"}',
    '{"pid":7}',
    '{"pid":"7","url":"x"}',
  ]) {
    await writeFile(join(folder, 'server.json'), text);
    assert.equal(await announced(folder), undefined, text);
  }
});
