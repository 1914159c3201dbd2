/** testing: a management plane on a socket that is also the cluster which is registered, and a folder for the rest. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { startControllerManager } from '../compose.ts';
import type { RunningControllerManager } from '../compose.ts';
import type { ClusterRow } from '../contract.ts';
import { installKinds, makeNamespace, putSecret, register, resolve } from '../fleet/testing/management.ts';
import type { Registered } from '../fleet/testing/management.ts';
import { kubePrograms } from '../options/kube-programs.ts';
import { readOptions } from '../options/options.ts';
import { tinyManager } from './tiny-manager.ts';
import type { TinyManager } from './tiny-manager.ts';

const namespace = 'fleet';
const patienceMs = 20_000;

export interface StartedManager {
  readonly running: RunningControllerManager;
  readonly log: string[];
  stop(): Promise<void>;
  row(cluster: string): ClusterRow | undefined;
  isReady(cluster: string): boolean;
}

export class TestGround implements AsyncDisposable {
  readonly folder: string;
  readonly cluster: TestCluster;
  readonly tiny: TinyManager;
  readonly kubeconfig: string;
  /** Of managers that are started from now on. */
  clock: Clock = systemClock;
  readonly #managers: StartedManager[] = [];

  private constructor(folder: string, cluster: TestCluster) {
    this.folder = folder;
    this.cluster = cluster;
    this.tiny = tinyManager(folder);
    this.kubeconfig = join(folder, 'management.kubeconfig');
    writeFileSync(this.kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  }

  static async start(): Promise<TestGround> {
    const cluster = await startTestCluster({ listen: true });
    await installKinds(cluster.client);
    await makeNamespace(cluster.client, namespace);
    await makeNamespace(cluster.client, 'kube-system').catch(() => undefined);
    return new TestGround(mkdtempSync(join(tmpdir(), 'hangar-manager-')), cluster);
  }

  /** A registration that leads to this very cluster. */
  async register(name: string, given: Registered = {}): Promise<void> {
    const { client, kubeconfig, url } = this.cluster;
    await putSecret(client, { namespace, name }, { kubeconfig });
    await register(client, name, given);
    await resolve(client, name, { namespace, name }, url);
  }

  /** With the flags that every one of them needs here. */
  async manager(peer: string, ...flags: string[]): Promise<StartedManager> {
    const options = await readOptions(
      [
        `--kubeconfig=${this.kubeconfig}`,
        ...(flags.includes('--engine=essential') ? [] : [`--kube-controller-manager=${this.tiny.path}`]),
        `--cluster-peer-name=${peer}`,
        `--work-dir=${join(this.folder, peer)}`,
        '--bind-address=127.0.0.1',
        '--secure-port=0',
        '--cluster-port-range=23000-23999',
        '--log-level=debug',
        ...flags,
      ],
      {
        environment: {},
        folder: this.folder,
        temporaryFolder: this.folder,
        hostName: 'host',
        cores: 2,
        programs: kubePrograms({ PATH: '' }),
      },
    );
    assert.ok(typeof options === 'object');
    const log: string[] = [];
    const ending = new AbortController();
    const running = await startControllerManager(options, {
      clock: this.clock,
      random: systemRandom,
      log: new Logger({ level: 'debug', format: 'text', clock: systemClock, write: (line) => log.push(line) }),
      signal: ending.signal,
    });
    const row = (cluster: string) => [...running.rows()].find((one) => one.cluster.name === cluster);
    const manager: StartedManager = {
      running,
      log,
      row,
      isReady: (cluster) => row(cluster)?.states.get('controllers')?.phase === 'Ready',
      async stop() {
        ending.abort();
        await running.closed;
      },
    };
    this.#managers.push(manager);
    return manager;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#managers.map((manager) => manager.stop()));
    await this.cluster[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `in vain: ${what}`);
    await sleep(20);
  }
}
