/** Promotion on a platform in this process: the usage report is the one of the server, only the clock of the windows is advanced. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, ClusterConfig, HttpTransport } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { sleep, systemClock } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { annotations, ControlPlane, ControlPlaneClass } from '../api/index.ts';
import type { PromotionSpec } from '../api/index.ts';
import { hostedDouble, installHosted } from '../dedicated/testing/hosted-double.ts';
import type { HostedDouble } from '../dedicated/testing/hosted-double.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilReady } from '../testing/until.ts';

const minuteMs = 60_000;
const isUsage = (request: string): boolean => request.endsWith('/tenants/*/usage');
const objectWrites = ({ writes }: TestPlatform) => writes.filter((one) => !one.includes('/events'));

/** A platform whose promotion measures often, with a clock that the test sets forward. */
async function startPromoted(metrics?: () => string) {
  await using opened = new AsyncDisposableStack();
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, now: () => systemClock.now() + time.aheadMs };
  let hosted: HostedDouble | undefined;
  const dedicated = (config: ClusterConfig): HttpTransport => measuredTransport(hosted!.transport(config), metrics!);
  const platform = await startTestPlatform({
    promotion: { intervalMs: 20, clock },
    ...(metrics ? { dedicated } : {}),
  });
  const { client } = platform;
  if (metrics) {
    await installHosted(client);
    hosted = opened.use(await hostedDouble(client));
  }
  opened.use(platform);
  await client.create(ControlPlaneClass, { metadata: { name: 'c' }, spec: {} });
  /** Resolves after measurements that began after this call. */
  const measured = async (times = 2): Promise<void> => {
    const count = () => platform.requests.filter(isUsage).length;
    for (const from = count(); count() < from + times + 1;) await sleep(systemClock, 5);
  };
  const closing = opened.move();
  return {
    platform,
    client,
    measured,
    /** Control planes exist before, so that their windows start with the same measurement. */
    async promote(promotion: PromotionSpec): Promise<void> {
      await client.patch(ControlPlaneClass, { name: 'c' }, { type: 'merge', body: { spec: { promotion } } });
      await measured();
    },
    async pass(minutes: number): Promise<void> {
      for (let left = minutes; left > 0; left -= 4) {
        time.aheadMs += Math.min(4, left) * minuteMs;
        await measured();
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** An API server with these metrics. */
const measuredTransport = (transport: HttpTransport, metrics: () => string): HttpTransport => ({
  async request(request) {
    const answer = await transport.request(request);
    if (request.target !== '/metrics') return answer;
    await answer.body();
    const text = Buffer.from(metrics());
    return {
      status: 200,
      header: () => undefined,
      body: () => Promise.resolve(text),
      // oxlint-disable-next-line require-await
      stream: async function* () {
        yield text;
      },
    };
  },
  close: () => transport.close(),
});

const plane = async (client: Client, name: string, metadata: object = {}): Promise<void> => {
  await client.create(ControlPlane, { metadata: { name, ...metadata }, spec: { classRef: { name: 'c' } } });
  await untilReady(client, name);
};

async function fill(inside: Client, objects: number): Promise<void> {
  for (let i = 0; i < objects; i++) {
    await inside.create(ConfigMap, { metadata: { namespace: 'default', name: `c${i}` } });
  }
}

const recommendationOf = (one: ControlPlane | undefined) =>
  findCondition(one?.status?.conditions, 'PromotionRecommended');
const recommended = async (client: Client, name: string) =>
  recommendationOf(await client.get(ControlPlane, { name }))?.message;
const untilRecommended = (client: Client, name: string, isSo: boolean) =>
  until(client, ControlPlane, name, (one) => (recommendationOf(one) !== undefined) === isSo);

test('a recommendation appears after the window, is written once, and disappears with its cause', async () => {
  await using world = await startPromoted();
  const { platform, client } = world;
  let operator = platform.start();
  for (const name of ['big', 'small']) await plane(client, name);
  await plane(client, 'pinned', { annotations: { [annotations.promotionDisabled]: 'true' } });
  for (const name of ['big', 'pinned']) await fill(platform.inside(name), 40);
  await world.promote({ toDedicated: { objects: 40 } });
  await world.pass(9);
  assert.equal(await recommended(client, 'big'), undefined, 'the window is 10 minutes');
  await world.pass(2);
  const big = await untilRecommended(client, 'big', true);
  const { reason, message, status } = recommendationOf(big)!;
  assert.deepEqual([reason, status], ['ObjectsAboveThreshold', 'True']);
  assert.match(message, /^[45]\d objects \(threshold: 40\)$/);
  assert.equal(big!.spec.mode, 'Virtual', 'mode Recommend changes nothing');
  for (const name of ['small', 'pinned']) assert.equal(await recommended(client, name), undefined, name);

  platform.forget();
  await world.measured(5);
  assert.deepEqual(objectWrites(platform), []);
  await operator.stop();
  platform.forget();
  operator = platform.start();
  await world.measured(5);
  assert.deepEqual(objectWrites(platform), [], 'after a restart');

  for (let i = 0; i < 40; i++) {
    await platform.inside('big').delete(ConfigMap, { namespace: 'default', name: `c${i}` });
  }
  await world.pass(8);
  await untilRecommended(client, 'big', false);
});

test('a class that ends promotion withdraws its recommendations, and nothing is measured then', async () => {
  await using world = await startPromoted();
  const { platform, client } = world;
  await fillAndStart(world, ['a']);
  await world.promote({ toDedicated: { objects: 1 } });
  await world.pass(11);
  await untilRecommended(client, 'a', true);
  await client.patch(ControlPlaneClass, { name: 'c' }, { type: 'merge', body: { spec: { promotion: null } } });
  await untilRecommended(client, 'a', false);
  await platform.quiet();
  platform.forget();
  await platform.quiet();
  assert.deepEqual(platform.requests.filter(isUsage), []);
});

test('mode Automatic changes the mode of the largest control plane, and the budget stops the next one', async () => {
  await using world = await startPromoted();
  const { platform, client } = world;
  await fillAndStart(world, ['a', 'b'], (name) => (name === 'b' ? 9 : 2));
  const toDedicated = { objects: 2 };
  await world.promote({ mode: 'Automatic', toDedicated, maxDedicated: 1, maxConcurrent: 5 });
  await world.pass(11);
  const promoted = await until(client, ControlPlane, 'b', (one) => one?.spec.mode === 'Dedicated');
  assert.equal(promoted!.metadata.annotations?.[annotations.promotedFor], 'objects');
  const blocked = await untilRecommended(client, 'a', true);
  assert.match(recommendationOf(blocked)!.message, /^\d+ objects .*not changed automatically: maxDedicated .* is 1/);
  await world.pass(8);
  assert.equal((await client.get(ControlPlane, { name: 'a' })).spec.mode, 'Virtual');
  const { items } = await client.list(Event, { namespace: 'default' });
  const [event, ...others] = items.filter(({ reason }) => reason === 'Promoted');
  assert.equal(others.length, 0);
  assert.equal(event!.regarding?.name, 'b');
  assert.match(event!.note!, /set spec.mode to Dedicated by spec.promotion of ControlPlaneClass "c": \d+ objects/);
  assert.ok(platform.requests.some(isUsage));
});

test('a promoted control plane returns when its API server has less, and one of a user is only recommended', async () => {
  let objects = 60;
  const metrics = (): string =>
    [
      `apiserver_resource_objects{resource="configmaps"} ${objects}`,
      'apiserver_request_total{code="200"} 1',
      'process_start_time_seconds 1',
      '',
    ].join('\n');
  await using world = await startPromoted(metrics);
  const { platform, client } = world;
  platform.start();
  // A virtual one, so that the host is measured, which the test waits for.
  await plane(client, 'virtual');
  const spec: ControlPlane['spec'] = { classRef: { name: 'c' }, mode: 'Dedicated' };
  const promotedFor = { annotations: { [annotations.promotedFor]: 'objects' } };
  await client.create(ControlPlane, { metadata: { name: 'promoted', ...promotedFor }, spec });
  await client.create(ControlPlane, { metadata: { name: 'created' }, spec });
  for (const name of ['promoted', 'created']) await untilReady(client, name);
  const thresholds = { toDedicated: { objects: 1_000 }, toVirtual: { objects: 50, stabilizationWindow: '10m' } };
  await world.promote({ mode: 'Automatic', ...thresholds, maxDedicated: 1 });
  await world.pass(21);
  assert.equal((await client.get(ControlPlane, { name: 'promoted' })).spec.mode, 'Dedicated', 'inside of the band');
  objects = 49;
  await world.pass(25);
  const returned = await until(client, ControlPlane, 'promoted', (one) => one?.spec.mode === 'Virtual');
  assert.equal(returned!.metadata.annotations?.[annotations.promotedFor], undefined);
  const type = 'ReturnRecommended';
  const created = await until(
    client,
    ControlPlane,
    'created',
    (one) => findCondition(one?.status?.conditions, type) !== undefined,
  );
  const { message } = findCondition(created!.status!.conditions, type)!;
  assert.equal(message, '49 objects (threshold: 50); not changed automatically: a user set the mode Dedicated');
  assert.equal(created!.spec.mode, 'Dedicated');
});

test('requests per second of the server count, and a suspended control plane is not measured', async () => {
  await using world = await startPromoted();
  const { platform, client } = world;
  await fillAndStart(world, ['busy', 'suspended']);
  for (let i = 0; i < 200; i++) {
    for (const name of ['busy', 'suspended']) await platform.inside(name).list(ConfigMap, { namespace: 'default' });
  }
  await client.patch(Tenant, { name: 'suspended' }, { type: 'merge', body: { spec: { suspension: 'ReadOnly' } } });
  await until(client, ControlPlane, 'suspended', (one) => one?.status?.phase === 'Suspended');
  await world.promote({ toDedicated: { requestsPerSecond: 1 } });
  await world.pass(11);
  const busy = await untilRecommended(client, 'busy', true);
  assert.match(recommendationOf(busy)!.message, /^[\d.]+ requests per second \(threshold: 1\)$/);
  assert.equal(await recommended(client, 'suspended'), undefined);
  assert.deepEqual(
    platform.requests.filter((one) => one.endsWith('/tenants/busy/usage')),
    [],
    'objects are counted only for thresholds of them',
  );
});

test('an unreachable host changes nothing', async () => {
  await using world = await startPromoted();
  const { platform, client } = world;
  await fillAndStart(world, ['a']);
  await world.promote({ toDedicated: { objects: 1 } });
  await world.pass(11);
  await untilRecommended(client, 'a', true);
  platform.host.isAway = true;
  await world.pass(13);
  assert.ok(await recommended(client, 'a'));
});

async function fillAndStart(
  { platform, client }: Awaited<ReturnType<typeof startPromoted>>,
  names: readonly string[],
  objects: (name: string) => number = () => 1,
): Promise<void> {
  platform.start();
  for (const name of names) {
    await plane(client, name);
    await fill(platform.inside(name), objects(name));
  }
}
