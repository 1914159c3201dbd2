/**
 * A platform with the virtual control plane `app` and a client that writes to it. Migrates it while programs are killed, starts the server
 * again after each kill of it, and reads the histories of both sides.
 *
 *     await using migrations = await InterruptedMigrations.start({ objects: 300, writesPerSecond: 50 });
 *     const result = await migrations.round({ to: 'Dedicated', kills: [{ at: 'controlplane.migration-hold.after', … }] });
 *     const { faults } = await migrations.finish();
 */

import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { findServer } from '@hangar/core/command-line';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '@hangar/controlplane-operator';
import { AcknowledgedWrites } from './acknowledged-writes.ts';
import { DedicatedHistory, TenantHistory } from './histories.ts';
import type { Kill, Round } from './kill-points.ts';
import { HostedPlatform } from './platform.ts';
import { sideFaults } from './writable-side.ts';
import type { Switch } from './writable-side.ts';

const program = fileURLToPath(new URL('./interrupted-server.ts', import.meta.url));
const name = 'app';
const namespace = 'writes';
const roundMsMax = 8 * 60_000;
const text = 'x'.repeat(500);
const pollMs = 50;
/** The store keeps its history for five minutes. */
const unreadMsMax = 150_000;

type Record = NonNullable<NonNullable<ControlPlane['status']>['migration']>;

export interface RoundResult {
  readonly round: Round;
  /** Kills whose failpoint was reached, with the time until the migration was complete. */
  readonly killed: readonly { readonly kill: Kill; readonly recoveredMs: number }[];
  readonly tookMs: number;
  /** Of all migrations of the round: an aborted one is followed by another one. */
  readonly outcomes: readonly string[];
  readonly attempts: number;
  readonly longestPauseMs: number;
}

export class InterruptedMigrations implements AsyncDisposable {
  readonly #platform: HostedPlatform;
  readonly #management: Client;
  readonly #writes: AcknowledgedWrites;
  readonly #tenant: TenantHistory;
  readonly #dedicated: DedicatedHistory;
  readonly #switches: Switch[] = [];
  readonly #stopping = new AbortController();
  readonly #keeping: Promise<void>;
  #restarts = 0;
  #readMs = performance.now();
  #failure: unknown;

  private constructor(platform: HostedPlatform, management: Client, writes: AcknowledgedWrites) {
    this.#platform = platform;
    this.#management = management;
    this.#writes = writes;
    this.#tenant = new TenantHistory(platform.dataFolder, name);
    this.#dedicated = new DedicatedHistory(() => management, name);
    this.#keeping = this.#keepServer().catch((error: unknown) => void (this.#failure = error));
  }

  static async start(options: {
    readonly objects: number;
    readonly writesPerSecond: number;
  }): Promise<InterruptedMigrations> {
    await using opened = new AsyncDisposableStack();
    const platform = opened.use(await HostedPlatform.start([], program));
    for (const folder of ['kills', 'killed']) await mkdir(join(platform.dataFolder, folder));
    const management = connect(await configOfKubeconfig(await platform.text('data/admin.kubeconfig')));
    opened.defer(() => management.close());
    await platform.hangar('create', name, '-o', 'app.kubeconfig');
    const body = { spec: { migration: { gracePeriodSeconds: 0 } } };
    await management.patch(ControlPlane, { name }, { type: 'merge', body });
    await createTemplate(platform);
    await fill(platform, options.objects);
    const writes = opened.use(
      await AcknowledgedWrites.start(await platform.text('app.kubeconfig'), {
        perSecond: options.writesPerSecond,
        namespace,
      }),
    );
    const started = new InterruptedMigrations(platform, management, writes);
    opened.move();
    return started;
  }

  /** Rejects if the migration is not complete after a long time. */
  async round(round: Round): Promise<RoundResult> {
    const startedMs = performance.now();
    this.#log(`to ${round.to}: ${round.kills.map(({ at, victim }) => `${victim} at ${at}`).join(', ')}`);
    await this.#arm(round.kills);
    await this.#answered(() => this.#management.patch(ControlPlane, { name }, { type: 'merge', body: specOf(round) }));
    const records = await this.#completed(round, startedMs);
    const endedMs = performance.now();
    for (const { outcome, to, revision } of records) {
      if (outcome === 'Switched') this.#switches.push({ to, revision: revision! });
    }
    await this.#writes.more(50);
    return {
      round,
      killed: await this.#killed(round.kills),
      tookMs: endedMs - startedMs,
      outcomes: records.map(({ outcome }) => outcome ?? 'none'),
      attempts: records.reduce((sum, { attempts = 0 }) => sum + attempts, 0),
      longestPauseMs: longestPause(this.#writes.writes.filter(({ acknowledgedMs }) => acknowledgedMs >= startedMs)),
    };
  }

  /** Kills the server, and resolves when it runs again: the history of the tenant is read meanwhile. */
  async readHistory(): Promise<void> {
    const before = this.#restarts;
    process.kill(await this.#platform.serverPid(), 'SIGKILL');
    while (this.#restarts === before) {
      this.#requireServer();
      await delay(pollMs);
    }
  }

  /** The control plane must be virtual. */
  async finish(): Promise<{ readonly acknowledged: number; readonly failed: number; readonly faults: string[] }> {
    const { faults, failures, acknowledged } = await this.#writes.finish();
    await this.readHistory();
    const ofSides = sideFaults({
      switches: this.#switches,
      versions: { Virtual: this.#tenant.versions, Dedicated: this.#dedicated.versions },
      copied: this.#dedicated.copied,
      acknowledged: this.#writes.writes.map((write) => ({
        ...write,
        key: `/registry/configmaps/${namespace}/${write.name}`,
        revision: Number(write.resourceVersion),
      })),
    });
    const failed = Array.from(failures.values()).reduce((sum, count) => sum + count, 0);
    return { acknowledged, failed, faults: [...faults, ...this.#dedicated.faults, ...ofSides] };
  }

  describe(): Promise<string> {
    return this.#platform.describe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#arm([]);
    this.#stopping.abort();
    await this.#keeping;
    // Only a server stops the pods.
    const { state } = await findServer(this.#platform.dataFolder);
    if (state !== 'running') await this.#platform.startServer().catch(() => undefined);
    await this.#dedicated[Symbol.asyncDispose]();
    await this.#writes[Symbol.asyncDispose]();
    await this.#management.close();
    await this.#platform[Symbol.asyncDispose]();
  }

  async #arm(kills: readonly Kill[]): Promise<void> {
    const folder = this.#platform.dataFolder;
    for (const file of await readdir(join(folder, 'kills'))) await rm(join(folder, 'kills', file), { force: true });
    for (const file of await readdir(join(folder, 'killed'))) await rm(join(folder, 'killed', file), { force: true });
    for (const { at, victim } of kills) await writeFile(join(folder, 'kills', at), victim);
  }

  async #killed(kills: readonly Kill[]): Promise<{ kill: Kill; recoveredMs: number }[]> {
    const nowMs = Date.now();
    const found = await Promise.all(
      kills.map(async (kill) => {
        const file = join(this.#platform.dataFolder, 'killed', kill.at);
        // The rename changes only the time of the status.
        const killedMs = await stat(file).then(
          ({ ctimeMs }) => ctimeMs,
          () => undefined,
        );
        return killedMs === undefined ? [] : [{ kill, recoveredMs: nowMs - killedMs }];
      }),
    );
    return found.flat();
  }

  /** Returns the records of all migrations since the start of the round. */
  async #completed({ to }: Round, startedMs: number): Promise<Record[]> {
    const records = new Map<string, Record>();
    const first = await this.#answered(() => this.#management.get(ControlPlane, { name }));
    const before = first.status?.migration?.completedAt === undefined ? undefined : first.status.migration.id;
    let shown = '';
    while (performance.now() - startedMs < roundMsMax) {
      this.#requireServer();
      const plane = await this.#management.get(ControlPlane, { name }).catch(() => undefined);
      const record = plane?.status?.migration;
      if (record?.id !== undefined && record.id !== before) records.set(record.id, record);
      const progress = `${record?.step} ${record?.outcome ?? ''} ${record?.message ?? ''}`;
      if (record && progress !== shown) this.#log(`  ${(shown = progress)}`);
      if (record?.completedAt !== undefined && record.outcome === 'Switched' && record.to === to) {
        if (record.id !== before) return [...records.values()];
      }
      await delay(pollMs);
    }
    throw new Error(`the migration to mode ${to} is not complete:\n${await this.describe()}`);
  }

  /** A killed process keeps the store for a moment. */
  async #readTenant(): Promise<void> {
    for (;;) {
      try {
        return await this.#tenant.read();
      } catch (error) {
        if (!hasCode(error, 'StorageInUse')) throw error;
        await delay(pollMs);
      }
    }
  }

  #log(line: string): void {
    console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
  }

  #requireServer(): void {
    if (this.#failure) throw new Error('the server could not be started again', { cause: this.#failure });
  }

  async #answered<T>(call: () => Promise<T>): Promise<T> {
    for (const untilMs = performance.now() + 60_000; ;) {
      try {
        return await call();
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        await delay(pollMs);
      }
    }
  }

  /** Starts the server again when it was killed. */
  async #keepServer(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const server = await findServer(this.#platform.dataFolder);
      if (server.state !== 'running') {
        await this.#readTenant();
        this.#readMs = performance.now();
        await this.#platform.startServer();
        this.#restarts++;
        this.#log('  the server was killed and started again');
      } else if (performance.now() - this.#readMs > unreadMsMax) {
        process.kill(server.server.pid, 'SIGKILL');
      }
      await delay(pollMs, undefined, { signal }).catch(() => {});
    }
  }
}

const parametersRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'HostedControlPlaneTemplate', name };
const specOf = ({ to }: Round) => ({ spec: { mode: to, dedicated: to === 'Dedicated' ? { parametersRef } : null } });

/** One member of etcd: it starts sooner, and its kill stops etcd. */
async function createTemplate(platform: HostedPlatform): Promise<void> {
  await platform.management('create', 'namespace', 'kplane-system').catch(() => undefined);
  await platform.create('data/admin.kubeconfig', {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
    kind: 'HostedControlPlaneTemplate',
    metadata: { namespace: 'kplane-system', name },
    spec: { template: { spec: { etcd: { replicas: 1 } } } },
  });
}

async function fill(platform: HostedPlatform, objects: number): Promise<void> {
  const client = connect(await configOfKubeconfig(await platform.text('app.kubeconfig')));
  try {
    await client.create(Namespace, { metadata: { name: 'filled' } });
    const create = (_: unknown, at: number) =>
      client.create(ConfigMap, { metadata: { namespace: 'filled', name: `filled-${at}` }, data: { text } });
    await Promise.all(Array.from({ length: objects }, create));
  } finally {
    await client.close();
  }
}

function longestPause(writes: readonly { readonly acknowledgedMs: number }[]): number {
  return writes.reduce(
    (longest, { acknowledgedMs }, at) =>
      Math.max(longest, acknowledgedMs - (writes[at - 1] ?? writes[at]!).acknowledgedMs),
    0,
  );
}
