/** Electors of this package and the real kube-scheduler contend for one lease, on the real kube-apiserver and on Hangar. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import { configOfKubeconfig, connect } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { startTestCluster } from '@hangar/testkit';
import { tool } from '../../../../tools/tool.ts';
import { LeaderElector } from './leader-elector.ts';

const key = { namespace: 'default', name: 'shared' };
const timings = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 500 };
const token = 'of-the-test';

interface Server extends AsyncDisposable {
  readonly kubeconfig: string;
}

async function startReal(): Promise<Server> {
  const real = await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]);
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: { server: real.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    'current-context': 'it',
  });
  return { kubeconfig, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

const servers: Record<string, () => Promise<Server>> = {
  'kube-apiserver': startReal,
  Hangar: () => startTestCluster({ listen: true }),
};

async function startScheduler(kubeconfig: string): Promise<ChildProcess> {
  const args = [
    `--kubeconfig=${kubeconfig}`,
    '--secure-port=0',
    '--leader-elect=true',
    `--leader-elect-resource-namespace=${key.namespace}`,
    `--leader-elect-resource-name=${key.name}`,
    '--leader-elect-lease-duration=4s',
    '--leader-elect-renew-deadline=3s',
    '--leader-elect-retry-period=500ms',
  ];
  return spawn(await tool('kube-scheduler', { log: console.log }), args, { stdio: 'ignore' });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 30_000; !(await isSo()); await sleep(50)) {
    assert.ok(performance.now() < endMs, `not so in half a minute: ${what}`);
  }
}

for (const [name, startServer] of Object.entries(servers)) {
  test(
    `${name}: a Go process and ours take the same lease in turn, never both`,
    { timeout: 240_000 },
    async (context) => {
      await using server = await startServer();
      const folder = await mkdtemp(join(tmpdir(), 'hangar-election-'));
      context.after(() => rm(folder, { recursive: true }));
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, server.kubeconfig, { mode: 0o600 });
      const client = connect(await configOfKubeconfig(server.kubeconfig));
      context.after(() => client.close());
      const spec = async () => (await client.get(Lease, key).catch(() => undefined))?.spec;
      const holder = async () => (await spec())?.holderIdentity ?? '';
      const ours = ['ours-1', 'ours-2'].map((identity) => new LeaderElector({ client, ...key, ...timings, identity }));
      const isOurs = (identity: string) => identity.startsWith('ours-');
      const startOurs = () =>
        ours.map((elector) => {
          const stop = new AbortController();
          const ended = elector.run(
            stop.signal,
            ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
          );
          return { stop, ended };
        });

      let scheduler = await startScheduler(kubeconfig);
      context.after(() => end(scheduler, 'SIGKILL'));
      await until('the scheduler leads', async () => (await holder()) !== '');
      const first = await holder();
      assert.match(first, /_[0-9a-f-]{36}$/);

      // While it renews, ours wait, for more than two lease durations.
      let running = startOurs();
      for (let i = 0; i < 18; i++) {
        await sleep(500);
        assert.equal(await holder(), first);
        assert.deepEqual(
          ours.map(({ isLeader, leader }) => [isLeader, leader]),
          ours.map(() => [false, first]),
        );
      }

      // It is killed: exactly one of ours follows when its lease has expired.
      await end(scheduler, 'SIGKILL');
      const diedMs = performance.now();
      await until('one of ours leads', async () => ours.some(({ isLeader }) => isLeader));
      const tookMs = performance.now() - diedMs;
      context.diagnostic(`taken over ${Math.round(tookMs)} ms after a crash`);
      assert.ok(tookMs > 2_500 && tookMs < 10_000, `${tookMs} ms`);
      assert.equal(ours.filter(({ isLeader }) => isLeader).length, 1);
      assert.equal((await spec())!.leaseTransitions, 1);

      // It restarts and waits for ours.
      scheduler = await startScheduler(kubeconfig);
      for (let i = 0; i < 18; i++) {
        await sleep(500);
        assert.ok(isOurs(await holder()));
      }

      // Ours release the lease: it does not have to wait.
      const transitions = (await spec())!.leaseTransitions!;
      for (const { stop } of running) stop.abort();
      await Promise.all(running.map(({ ended }) => ended));
      await until('the scheduler leads again', async () => (await holder()) !== '' && !isOurs(await holder()));
      assert.ok((await spec())!.leaseTransitions! > transitions);

      // And the reverse: the scheduler releases the lease, and ours follow at once.
      running = startOurs();
      await until('ours have seen it', async () => ours.every(({ leader }) => leader !== '' && !isOurs(leader)));
      await end(scheduler, 'SIGTERM');
      await until('one of ours leads again', async () => ours.some(({ isLeader }) => isLeader));
      for (const { stop } of running) stop.abort();
      await Promise.all(running.map(({ ended }) => ended));
      assert.equal(await holder(), '');
    },
  );
}
