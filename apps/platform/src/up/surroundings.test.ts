import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { launchers } from './launchers.ts';
import { watchSurroundings } from './surroundings.ts';

/** Checks without a pause. */
const clock = { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(1, callback) };

const lost = (options: { readonly dataDirectory?: string; readonly launchers?: readonly number[] }) =>
  new Promise<string>((resolve, reject) => {
    const { dataDirectory, launchers = [] } = options;
    watchSurroundings({ dataDirectory, launchers, clock, onLost: resolve }).catch(reject);
  });

test('a data directory that is removed, or replaced by another one, is reported', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-surroundings-'));
  try {
    const dataDirectory = join(folder, 'data');
    for (const change of [
      () => rm(dataDirectory, { recursive: true }),
      () => rename(dataDirectory, join(folder, 'moved')).then(() => mkdir(dataDirectory)),
    ]) {
      await mkdir(dataDirectory, { recursive: true });
      const reason = lost({ dataDirectory });
      await new Promise((resolve) => setImmediate(resolve));
      await change();
      assert.equal(await reason, `the data directory ${dataDirectory} was removed`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the process above an older Node is watched, too', async () => {
  process.env['HANGAR_PARENT'] = '4711';
  try {
    assert.deepEqual((await launchers(false)).pids, [process.ppid, 4711]);
  } finally {
    delete process.env['HANGAR_PARENT'];
  }
  assert.deepEqual((await launchers(false)).pids, [process.ppid]);
});

test('a process that has exited and is still in the table does not run', async () => {
  // The shell replaces itself by a program that never reads the exit code of its child.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [output] = (await once(parent.stdout, 'data')) as [Buffer];
    assert.equal(
      await lost({ launchers: [process.ppid, Number(output.toString())] }),
      'the process that started Hangar has exited',
    );
  } finally {
    parent.kill();
  }
});

test('a launcher that exits is reported', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const reason = lost({ launchers: [process.ppid, child.pid!] });
  child.kill();
  await once(child, 'exit');
  assert.equal(await reason, 'the process that started Hangar has exited');
});
