/** The helper must leave nothing behind, even if the process that used it crashes. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startEtcd } from './etcd-process.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually(condition: () => boolean, what: string): Promise<void> {
  for (const endMs = Date.now() + 20_000; !condition();) {
    assert.ok(Date.now() < endMs, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a member can be killed and restarted with its data and ports, and stop leaves nothing', async () => {
  const etcd = await startEtcd({ unsafeNoFsync: true });
  const [member] = etcd.members;
  const first = member!.pid!;
  try {
    await member!.kill();
    assert.equal(isAlive(first), false);
    await member!.start();
    assert.notEqual(member!.pid, first);
    assert.ok(await member!.isLeader());
  } finally {
    await etcd.stop();
  }
  assert.equal(member!.pid, undefined);
  await etcd.stop();
});

test('a paused cluster can be stopped', async () => {
  const etcd = await startEtcd({ members: 3, unsafeNoFsync: true });
  const pids = etcd.members.map((member) => member.pid!);
  for (const member of etcd.members) member.pause();
  await etcd.stop();
  assert.ok(pids.every((pid) => !isAlive(pid)));
});

test('when the process that started it is killed, etcd ends and its data is removed', async () => {
  const script = `
    import { startEtcd } from ${JSON.stringify(new URL('./etcd-process.ts', import.meta.url).href)};
    const { members, folder } = await startEtcd({ unsafeNoFsync: true });
    console.log(JSON.stringify({ pid: members[0].pid, folder }));
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const line = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('it ended early')));
    });
    const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
    assert.ok(isAlive(pid) && existsSync(folder));
    child.kill('SIGKILL');
    await eventually(() => !isAlive(pid), 'etcd outlived its owner');
    await eventually(() => !existsSync(folder), 'the data outlived its owner');
  } finally {
    child.kill('SIGKILL');
  }
});
