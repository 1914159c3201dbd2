/**
 * A tenant whose stored data or requests end the process: the next start quarantines it before anything is done for it, serves
 * the others, and does not end.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configOfKubeconfig, connect, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { ControlPlane, Tenant } from '@hangar/controlplane-operator';
import type { CrashingServerOptions } from './testing/crashing-server.ts';

const program = new URL('./testing/crashing-server.ts', import.meta.url).pathname;
const patienceMs = 120_000;
const controllers = 'request demo system:hangar:controllers';

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'hangar-crash-loop-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** One run of the server on the data in a folder. */
class Run implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #folder: string;
  readonly #clients: Client[] = [];
  log = '';

  constructor({ path }: Folder, options: Omit<CrashingServerOptions, 'args'> = {}) {
    this.#folder = path;
    // Of the run before.
    rmSync(join(path, 'admin.kubeconfig'), { force: true });
    const args = [`--data-dir=${path}`, '--listen=127.0.0.1:0', '--log-format=json'];
    const given = JSON.stringify({ ...options, args } satisfies CrashingServerOptions);
    this.#child = spawn(process.execPath, ['--max-old-space-size=200', program, given], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    this.#closed = once(this.#child, 'close');
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async until<Found>(look: () => Promise<Found | undefined | false>): Promise<Found> {
    for (const deadlineMs = performance.now() + patienceMs; ;) {
      const found = await look().catch(() => undefined);
      if (found) return found;
      assert.ok(!this.hasEnded && performance.now() < deadlineMs, `it did not come to that:\n${this.log}`);
      await sleep(50);
    }
  }

  /** Resolves when the server has written the kubeconfig. */
  async client(file: string): Promise<Client> {
    const source = join(this.#folder, file);
    await this.until(() => Promise.resolve(existsSync(source)));
    const client = connect(await configOfKubeconfig(readFileSync(source, 'utf8'), { source }));
    this.#clients.push(client);
    return client;
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs);
    await this.#closed;
    clearTimeout(timer);
  }

  /** Resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    await this.ended();
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
    await this.#closed;
    await Promise.all(this.#clients.map((client) => client.close().catch(() => undefined)));
  }
}

const statusOf = async (root: Client, path: string): Promise<number> =>
  (await root.raw({ method: 'GET', target: `/clusters/${path}/control-plane/api/v1/namespaces` })).status;

/** Controllers have work in `demo` with every start: a namespace that ends and cannot. */
async function setUp(folder: Folder): Promise<void> {
  await using run = new Run(folder);
  const demo = await run.client('demo.kubeconfig');
  await demo.create(Namespace, { metadata: { name: 'stuck' } });
  await demo.create(ConfigMap, { metadata: { namespace: 'stuck', name: 'held', finalizers: ['example.com/hold'] } });
  await demo.delete(Namespace, { name: 'stuck' });
  const root = await run.client('admin.kubeconfig');
  await root.create(ControlPlane, { metadata: { name: 'neighbour' }, spec: {} });
  await run.until(async () => (await find(root, ControlPlane, { name: 'neighbour' }))?.status?.phase === 'Ready');
  assert.equal(await run.stop(), 0);
}

for (const how of ['fill', 'throw'] as const) {
  test(`a tenant whose work ends the process (${how}) is quarantined by the next start, and others are served`, async () => {
    using folder = new Folder();
    await setUp(folder);
    {
      await using first = new Run(folder, { failpoint: controllers, how });
      await first.ended();
      assert.match(first.log, how === 'fill' ? /heap out of memory/ : /planted/);
    }
    {
      await using second = new Run(folder, { failpoint: controllers, how });
      const root = await second.client('admin.kubeconfig');
      const quarantined = await second.until(async () => {
        const { status } = await root.get(Tenant, { name: 'demo' });
        return status?.quarantine;
      });
      assert.equal(quarantined.reason, 'ProcessCrash');
      assert.match(
        quarantined.message,
        /^the server exited during its work; reconcile \S+ .*by "system:hangar:controllers"/,
      );
      assert.match(second.log, /"tenant":"demo".*"msg":"tenant quarantined"/);
      await second.until(async () => {
        const { status } = await root.get(ControlPlane, { name: 'demo' });
        return status?.conditions?.some(({ reason }) => reason === 'Quarantined');
      });
      await second.until(async () => {
        const { items } = await root.list(Event, { namespace: 'default' });
        const ofDemo = items.filter(({ regarding }) => regarding?.kind === 'ControlPlane' && regarding.name === 'demo');
        return ['ProcessCrash', 'Quarantined'].every((reason) => ofDemo.some((event) => event.reason === reason));
      });
      assert.equal(await statusOf(root, 'demo'), 503);
      assert.equal(await statusOf(root, 'neighbour'), 200);
      assert.equal(await second.stop(), 0);
    }
    {
      await using third = new Run(folder);
      const root = await third.client('admin.kubeconfig');
      await third.until(async () => (await statusOf(root, 'neighbour')) === 200);
      assert.equal(await statusOf(root, 'demo'), 503, 'a restart does not end the quarantine');
      const body = { status: { quarantine: null } };
      await root.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body });
      assert.equal(await statusOf(root, 'demo'), 200);
      assert.equal(await third.stop(), 0);
    }
  });
}

test('a process that is killed from outside quarantines no tenant', async () => {
  using folder = new Folder();
  for (let at = 0; at < 3; at++) {
    await using run = new Run(folder);
    const root = await run.client('admin.kubeconfig');
    await run.until(async () => (await statusOf(root, 'demo')) === 200);
  }
  await using run = new Run(folder);
  const root = await run.client('admin.kubeconfig');
  const { status } = await run.until(() => root.get(Tenant, { name: 'demo' }));
  assert.equal(status?.quarantine, undefined);
  assert.doesNotMatch(run.log, /exited during a request/);
});
