/**
 * A management cluster in the process of the test with the kinds of backups, a kind of control planes in memory, and the operator, which
 * can be stopped and started again. Its requests are counted.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RestClient } from '@hangar/client';
import type { ApiObject, Client, HttpTransport, Kind } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { Logger, seededRandom, systemClock } from '@hangar/core';
import { localCluster, Manager, newCluster } from '@hangar/runtime';
import type { MetricsRegistry } from '@hangar/runtime';
import { Activity, installCrd, startTestCluster } from '@hangar/testkit';
import { definitions } from '../api/generated/index.ts';
import { addBackupControllers } from '../operator.ts';
import type { BackupControllersOptions } from '../operator.ts';
import { fakeTarget } from './fake-target.ts';
import type { FakeTarget } from './fake-target.ts';
import type { JumpingClock } from './jumping-clock.ts';

export interface RunningOperator extends AsyncDisposable {
  readonly metrics: MetricsRegistry;
  /** Stops at once, as if the process were killed. */
  stop(): Promise<void>;
}

export interface TestPlatform extends AsyncDisposable {
  /** As an administrator. */
  readonly client: Client;
  readonly target: FakeTarget;
  /** Folder for backups. */
  readonly folder: string;
  /** Requests of operators that change objects, since `forget`. */
  readonly writes: readonly string[];
  /** All requests of operators without watches. */
  readonly requests: readonly string[];
  forget(): void;
  start(options?: Partial<BackupControllersOptions>): RunningOperator;
  /** Resolves when the operators are idle. */
  quiet(): Promise<void>;
}

/** Of the platform: objects here may refer to ControlPlanes. */
export const namespace = 'hangar-system';
const withinMs = 60_000;
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

export async function startTestPlatform(platform: { readonly clock?: JumpingClock } = {}): Promise<TestPlatform> {
  const clock = platform.clock ?? systemClock;
  const watchClock = platform.clock?.forWatches ?? systemClock;
  await using opened = new AsyncDisposableStack();
  const cluster = opened.use(await startTestCluster({ clock: watchClock }));
  for (const definition of definitions) await installCrd(cluster.client, definition);
  for (const name of [namespace, 'team']) await cluster.client.create(Namespace, { metadata: { name } });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-backup-operator-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const target = fakeTarget();
  let requests: string[] = [];
  const activity = new Activity();
  const transport = activity.watched(cluster.transportOf());
  const counted: HttpTransport = {
    request(request) {
      requests.push(`${request.method} ${request.target}`);
      return transport.request(request);
    },
    close: () => Promise.resolve(),
  };
  const running = new Set<RunningOperator>();
  opened.defer(async () => void (await Promise.all(Array.from(running, (one) => one.stop()))));
  const start = (options: Partial<BackupControllersOptions> = {}): RunningOperator => {
    const ending = new AbortController();
    const random = seededRandom(7);
    const client = new RestClient(counted, { random, retry: false });
    const local = newCluster({ name: localCluster, client, clock: watchClock, log: silent });
    const manager = new Manager({ cluster: local, metrics: false, health: false, clock, random, log: silent });
    addBackupControllers(manager, { targets: [target], folder, clock, random, ...options });
    activity.add(manager.registry);
    const ended = manager.run(ending.signal).catch((error: unknown) => error);
    const stop = async (): Promise<void> => {
      ending.abort();
      await ended;
      activity.delete(manager.registry);
      running.delete(one);
    };
    const one: RunningOperator = { metrics: manager.registry, stop, [Symbol.asyncDispose]: stop };
    running.add(one);
    return one;
  };
  const closing = opened.move();
  return {
    client: cluster.client,
    target,
    folder,
    get requests() {
      return requests.filter((one) => !one.includes('watch='));
    },
    get writes() {
      return requests.filter((one) => !one.startsWith('GET ') && !one.includes('/events'));
    },
    forget: () => (requests = []),
    start,
    quiet: () => activity.idle(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Resolves with the first state of the object for which the condition holds; undefined stands for deleted. */
export async function until<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: { readonly namespace?: string; readonly name: string },
  isSo: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  const one = { namespace: key.namespace ?? namespace, fieldSelector: `metadata.name=${key.name}` };
  const { items, resourceVersion } = await client.list(kind, one);
  let last: T | undefined = items[0];
  if (isSo(last)) return last;
  try {
    for await (const event of client.watch(kind, { ...one, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      last = event.type === 'DELETED' ? undefined : event.object;
      if (isSo(last)) return last;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new Error(`${kind.kind} ${key.name} did not reach the state: ${JSON.stringify(last)}`);
  // The clock was set forward, and the server closed the watch.
  return until(client, kind, key, isSo);
}
