/** `status`, `logs` and `down`, with another process in the place of the server. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { announce, announced, logFileIn } from '@hangar/core/command-line';
import { makePlane } from '../testing/plain-operator.ts';
import { KeptOutput, openTestWorld } from '../testing/test-session.ts';

const url = 'https://127.0.0.1:6443';

/** A process whose command line is that of a server. It exits with SIGTERM. */
async function startProcess(t: TestContext, ...words: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000); console.log()', ...words]);
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** Bytes that a command wrote, as text. */
const textOf = ({ bytes }: KeptOutput): string => Buffer.concat(bytes).toString('utf8');

test('status shows the server and its control planes', async (t) => {
  await using world = await openTestWorld();
  await makePlane(world.client, 'demo');
  const data = join(world.folder, '.data');
  const child = await startProcess(t, 'hangar', 'up');
  await announce(data, { pid: child.pid!, url, version: '1.2.3', startedAt: Date.now() - 3_600_000 });
  await writeFile(logFileIn(data), 'line\n');
  const { code, out } = await world.run('status');
  assert.equal(code, 0);
  assert.match(
    out,
    new RegExp(`^State: +Running\nPID: +${child.pid}\nVersion: +1\\.2\\.3\nAddress: +${url}\nUptime: +60m\n`),
  );
  assert.match(out, /^Memory: +[\d.]+MiB\nControl planes: +1\n$/m);
  const status = JSON.parse((await world.run('status', '-o', 'json')).out);
  assert.deepEqual(
    { ...status, memoryBytes: 0, startedAt: '' },
    {
      state: 'Running',
      dataDirectory: data,
      pid: child.pid,
      version: '1.2.3',
      address: url,
      startedAt: '',
      memoryBytes: 0,
      logFile: logFileIn(data),
      controlPlanes: 1,
    },
  );
});

test('without a server, status and down report that it does not run', async () => {
  await using world = await openTestWorld();
  const data = join(world.folder, '.data');
  const text = `Hangar does not run in ${data}\n`;
  assert.deepEqual(await world.run('status'), { code: 1, out: text, err: '' });
  assert.deepEqual(await world.run('down'), { code: 0, out: text, err: '' });
  assert.deepEqual(JSON.parse((await world.run('status', '-o', 'json')).out), {
    state: 'Stopped',
    dataDirectory: data,
  });
});

test('down stops the server and waits for it', async (t) => {
  await using world = await openTestWorld();
  const data = join(world.folder, '.data');
  const child = await startProcess(t, 'hangar', 'up');
  await announce(data, { pid: child.pid!, url });
  const out = `stopped process ${child.pid}, which served ${url}\n`;
  assert.deepEqual(await world.run('down'), { code: 0, out, err: '' });
  if (child.signalCode === null) await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGTERM');
  assert.equal(await announced(data), undefined);
});

test('down does not touch a process that is another program', async (t) => {
  await using world = await openTestWorld();
  const data = join(world.folder, '.data');
  const child = await startProcess(t, 'other');
  await announce(data, { pid: child.pid!, url });
  const { out } = await world.run('status');
  assert.equal(
    out,
    `Hangar does not run in ${data}: process ${child.pid}, which served ${url}, is another program now\n`,
  );
  assert.equal((await world.run('down')).code, 0);
  process.kill(child.pid!, 0);
  assert.equal(await announced(data), undefined);
});

test('logs prints the log, its last lines, and new lines until the server exits', async (t) => {
  await using world = await openTestWorld();
  const data = join(world.folder, '.data');
  const none = await world.run('logs');
  assert.equal(none.code, 1);
  assert.match(none.err, /has no log\n +start a server with a log: hangar up --detach\n/);
  await writeFile(logFileIn(data), 'one\ntwo\nthree\n');
  for (const [words, expected] of [
    [['logs'], 'one\ntwo\nthree\n'],
    [['logs', '--tail', '2'], 'two\nthree\n'],
    [['logs', '--tail', '0'], ''],
    [['logs', '--tail', '9'], 'one\ntwo\nthree\n'],
  ] as const) {
    const out = new KeptOutput();
    assert.equal((await world.runIn({ out }, ...words)).code, 0);
    assert.equal(textOf(out), expected, words.join(' '));
  }
  assert.equal((await world.run('logs', '--tail', 'x')).code, 2);

  const child = await startProcess(t, 'hangar', 'up');
  await announce(data, { pid: child.pid!, url });
  const out = new KeptOutput();
  const following = world.runIn({ out }, 'logs', '-f', '--tail', '1');
  const shows = async (text: string): Promise<void> => {
    while (textOf(out) !== text) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await shows('three\n');
  await appendFile(logFileIn(data), 'four\n');
  await shows('three\nfour\n');
  // Rotated.
  await truncate(logFileIn(data));
  await appendFile(logFileIn(data), 'five\n');
  await shows('three\nfour\nfive\n');
  child.kill('SIGKILL');
  assert.equal((await following).code, 0);
});
