/** Processes with a manager: they exit by themselves, by a signal, and at once by a second signal. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startTestCluster } from '@hangar/testkit';
import { Manager } from './manager.ts';

const program = fileURLToPath(new URL('testing/process.ts', import.meta.url));
const timeout = 60_000;

function start(mode: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => (await lines.next()).value as string | undefined,
    ended: once(child, 'exit') as Promise<[code: number | null, signal: string | null]>,
  };
}

test('after run() has resolved, nothing keeps the process alive', { timeout }, async () => {
  const { line, ended } = start('aborts');
  assert.match((await line())!, /^running \d+$/);
  assert.equal(await line(), 'ended');
  assert.deepEqual(await ended, [0, null]);
});

test('nor do connections to a cluster over TLS: newManager closes what it opened', { timeout }, async (context) => {
  await using cluster = await startTestCluster({ listen: true });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-manager-'));
  context.after(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.kubeconfig);
  const { line, ended } = start('remote', { KUBECONFIG: kubeconfig });
  assert.match((await line())!, /^running \d+$/);
  assert.match((await line())!, /rest_client_requests_total/);
  assert.equal(await line(), 'ended');
  assert.deepEqual(await ended, [0, null]);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends it in good order`, { timeout }, async () => {
    const { child, line, ended } = start('runs');
    const port = Number((await line())!.split(' ')[1]);
    const answer = await fetch(`http://127.0.0.1:${port}/readyz?verbose`);
    assert.match(await answer.text(), /readyz check passed/);
    assert.match(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), /leader_election_master_status/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status, 405);
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'HEAD' })).status, 200);
    assert.equal((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status, 404);
    child.kill(signal);
    assert.equal(await line(), 'ended');
    assert.deepEqual(await ended, [0, null]);
  });
}

test('a manager that has no port and no connection goes on', { timeout }, async () => {
  const { child, line, ended } = start('bare');
  assert.equal(await line(), 'running undefined');
  const isOver = await Promise.race([ended.then(() => true), sleep(300).then(() => false)]);
  assert.equal(isOver, false);
  child.kill('SIGTERM');
  assert.equal(await line(), 'ended');
  assert.deepEqual(await ended, [0, null]);
});

test('asked twice, it ends at once with an exit code of 1', { timeout }, async () => {
  const { child, line, ended } = start('stubborn');
  const port = Number((await line())!.split(' ')[1]);
  child.kill('SIGTERM');
  // The manager stops, and waits for the runnable that does not stop.
  for (let isEnding = false; !isEnding;) {
    isEnding = (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 500;
  }
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [1, null]);
});

test('an address that is taken ends the manager with that error', { timeout }, async () => {
  const { line, child, ended } = start('runs');
  const port = Number((await line())!.split(' ')[1]);
  await using cluster = await startTestCluster();
  const manager = new Manager({ client: cluster.client, metrics: { port } });
  await assert.rejects(manager.run(new AbortController().signal), { code: 'EADDRINUSE' });
  child.kill('SIGTERM');
  await ended;
});
