/** The engine with the real programs, for a cluster over real TLS: everything that virtual time cannot show. */

import assert from 'node:assert/strict';
import { readdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { find } from '@hangar/client';
import { Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { tool } from '../../../../../tools/tool.ts';
import { newPrograms } from '../../child/programs.ts';
import { services } from '../../contract.ts';
import type { Engine, Service, ServiceState, Serving } from '../../contract.ts';
import { kubeEngine } from './engine.ts';
import { kubeconfigOf } from './kubeconfig-file.ts';
import { MemoryKubeconfigs, TestOwnership } from './testing/world.ts';

const patienceMs = 40_000;
const secret = { namespace: 'fleet', name: 'a' };

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, `it did not come to this: ${what}`);
    await pause(50);
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the real programs', () => {
  const secrets = new MemoryKubeconfigs();
  const states = new Map<Service, ServiceState>();
  const servings: Serving[] = [];
  const pids = new Set<number>();
  const output: string[] = [];
  let cluster: TestCluster;
  let folder: string;
  let engine: Engine;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-kube-engine-'));
    cluster = await startTestCluster({ listen: true });
    const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => output.push(line) });
    engine = kubeEngine({
      programs: newPrograms({
        workDir: join(folder, 'work'),
        ports: { from: 23_000, to: 23_999 },
        clock: systemClock,
        log,
        writeLines: (lines) => output.push(lines),
      }),
      kubeconfigs: secrets,
      executables: {
        controllers: await tool('kube-controller-manager', { log: console.log }),
        scheduler: await tool('kube-scheduler', { log: console.log }),
      },
      // In this cluster only administrators may do anything.
      arguments: { controllers: ['--use-service-account-credentials=false'], scheduler: [] },
      peer: 'real',
      memoryLimitBytes: 512 * 1024 * 1024,
      stopGraceMs: 1_500,
      debounceMs: 300,
      startConcurrency: 2,
      clock: systemClock,
      random: systemRandom,
      log,
    });
  });
  after(async () => {
    await Promise.all(servings.map((serving) => serving.stop()));
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const isReady = (service: Service, restarts: number): boolean => {
    const state = states.get(service);
    return state?.phase === 'Ready' && state.restarts === restarts;
  };

  test('become ready, and do their work', async () => {
    for (const service of services) {
      servings.push(
        engine.serve({
          cluster: {
            name: 'a',
            source: { kind: 'ControlPlaneRegistration', name: 'a', uid: 'uid' },
            services: new Set(services),
            labels: {},
            address: undefined,
            secret,
          },
          service,
          ownership: Object.assign(new TestOwnership(), { leftMs: 60_000 }),
          report: (state) => {
            states.set(service, state);
            if (state.process) pids.add(state.process.pid);
          },
        }),
      );
    }
    secrets.put(secret, cluster.kubeconfig);
    for (const service of services) await until(`${service} is ready`, () => isReady(service, 0));
    assert.equal(pids.size, 2);
    await cluster.client.create(Namespace, { metadata: { name: 'work' } });
    const key = { namespace: 'work', name: 'default' };
    await until('there is an account', async () => (await find(cluster.client, ServiceAccount, key)) !== undefined);
  });

  test('come back when they are killed, each by itself', async () => {
    const [killed, other] = services.map((service) => states.get(service)!.process!.pid);
    process.kill(killed!, 'SIGKILL');
    await until('it is back', () => isReady('controllers', 1));
    assert.notEqual(states.get('controllers')!.process!.pid, killed);
    assert.match(states.get('controllers')!.lastError!, /SIGKILL/);
    assert.equal(states.get('scheduler')!.process!.pid, other);
  });

  test('are started again once for other credentials', async () => {
    const another = cluster.configOf({ name: 'another', groups: ['system:masters'] });
    secrets.put(secret, await kubeconfigOf(another));
    await until('controllers', () => isReady('controllers', 2));
    await until('scheduler', () => isReady('scheduler', 1));
    secrets.put(secret, await kubeconfigOf(another));
    await pause(1_000);
    assert.ok(isReady('controllers', 2) && isReady('scheduler', 1));
    assert.equal(pids.size, 5);
  });

  test('leave nothing behind when they are stopped', async () => {
    const begunMs = performance.now();
    await Promise.all(servings.map((serving) => serving.stop()));
    assert.ok(performance.now() - begunMs < 2_000, `${performance.now() - begunMs} ms`);
    assert.deepEqual([...pids].filter(isAlive), []);
    assert.deepEqual(await readdir(join(folder, 'work', 'children')), []);
    assert.equal(secrets.followers, 0);
  });
});
