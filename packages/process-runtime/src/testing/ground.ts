/** A cluster in process and a runtime with real processes, for tests. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@hangar/client';
import { find } from '@hangar/client';
import { Event, Pod } from '@hangar/client/kinds/core-v1';
import type { Container, PodSpec } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { programsInPath } from '../images/resolver.ts';
import type { ProcessRuntimeOptions } from '../options.ts';
import { startProcessRuntime } from '../runtime.ts';
import type { ProcessRuntime } from '../runtime.ts';

export const nodeName = 'local';
const untilMs = 60_000;

/** Resolves with the first result that is not undefined or false. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const fromMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - fromMs > untilMs) throw new Error(`${what}: not within ${untilMs} ms`);
    await delay(20);
  }
}

export class Ground implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly folder: string;
  readonly #options: Partial<ProcessRuntimeOptions>;
  readonly lines: string[] = [];
  runtime!: ProcessRuntime;

  private constructor(cluster: TestCluster, folder: string, options: Partial<ProcessRuntimeOptions>) {
    this.cluster = cluster;
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: Partial<ProcessRuntimeOptions> = {}): Promise<Ground> {
    const ground = new Ground(await startTestCluster(), mkdtempSync(join(tmpdir(), 'hangar-pods-')), options);
    try {
      await ground.startRuntime();
      return ground;
    } catch (error) {
      await ground[Symbol.asyncDispose]();
      throw error;
    }
  }

  get client(): Client {
    return this.cluster.client;
  }

  async startRuntime(options: Partial<ProcessRuntimeOptions> = {}): Promise<void> {
    this.runtime = await startProcessRuntime({
      client: this.client,
      nodeName,
      folder: this.folder,
      images: [programsInPath],
      log: new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => this.lines.push(line) }),
      ...this.#options,
      ...options,
    });
  }

  /** Creates a pod that is bound to the node. */
  create(name: string, spec: Partial<PodSpec> & { containers: Container[] }, metadata: object = {}): Promise<Pod> {
    return this.client.create(Pod, {
      metadata: { namespace: 'default', name, ...metadata },
      spec: { nodeName, terminationGracePeriodSeconds: 60, automountServiceAccountToken: false, ...spec },
    });
  }

  pod(name: string): Promise<Pod | undefined> {
    return find(this.client, Pod, { namespace: 'default', name });
  }

  async events(name: string): Promise<string[]> {
    const { items } = await this.client.list(Event, { namespace: 'default' });
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  isReady(name: string): Promise<Pod> {
    return until(`pod ${name} is ready`, async () => {
      const pod = await this.pod(name);
      return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && pod;
    });
  }

  isGone(name: string): Promise<unknown> {
    return until(`pod ${name} is gone`, async () => !(await this.pod(name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime?.close({ pods: 'stop' });
    await this.cluster[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A container that runs a shell script. */
export const shell = (script: string, more: Partial<Container> = {}): Container => ({
  name: 'main',
  image: 'example.com/sh:1',
  command: ['sh', '-c', script],
  ...more,
});
