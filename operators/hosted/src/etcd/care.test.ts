import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import type { SourceContext } from '@hangar/runtime';
import { virtualClock } from '@hangar/testkit';
import { EtcdCare } from './care.ts';
import type { EtcdTimes } from './care.ts';
import type { EtcdTarget } from './session.ts';
import { EtcdMetrics } from '../metrics/etcd-metrics.ts';
import { healthyMember, notMember, observationOf, observationWith, spaceSettings } from './testing/observations.ts';
import type { ObservedFigures } from './testing/observations.ts';

const mebibyte = 2 ** 20;
const healthy = (dbSizeBytes: number): ObservedFigures => ({ dbSizeBytes, alarms: [] });
const noSpace: ObservedFigures = { dbSizeBytes: 100 * mebibyte, alarms: [{ type: 'NOSPACE', member: 'demo-etcd-0' }] };
const object = (name = 'demo', uid = 'first') => ({ namespace: 'team', name, uid });
const target = (name = 'demo'): EtcdTarget => ({
  namespace: 'team',
  name,
  hostedControlPlane: name,
  desired: 3,
  space: spaceSettings,
});

function running(answer: (name: string) => ObservedFigures | undefined | Error, times: EtcdTimes = {}) {
  const clock = virtualClock();
  const [probes, enqueued]: [{ name: string; atMs: number }[], string[]] = [[], []];
  const fromMs = clock.monotonicMs();
  const monitor = new EtcdCare({
    ...times,
    clock,
    events: { event: () => {} },
    metrics: new EtcdMetrics(new MetricsRegistry()),
    open: ({ name }) => ({
      observe() {
        probes.push({ name, atMs: clock.monotonicMs() - fromMs });
        const figures = answer(name);
        if (figures instanceof Error) return Promise.reject(figures);
        return Promise.resolve(figures && observationWith(figures));
      },
      // Only attempts to free space, which fail.
      run: () => Promise.resolve(false),
      close: () => {},
    }),
  });
  const sizeOf = (one = object()): number | string | undefined => {
    const health = monitor.track(one, target());
    return typeof health === 'object' ? health.dbSizeBytes : health;
  };
  const context = {
    cluster: {},
    enqueue: ({ name }: { name: string }) => enqueued.push(name),
    log: new Logger({ level: 'silent', format: 'text', clock }),
  } as unknown as SourceContext;
  const ending = new AbortController();
  const ended = monitor.source(context, ending.signal) as Promise<void>;
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
  };
  return { clock, monitor, sizeOf, probes, enqueued, [Symbol.asyncDispose]: stop };
}

test('a control plane is probed at once and then every minute, and enqueued only when the result matters', async () => {
  let health = healthy(100 * mebibyte);
  await using it = running(() => health);
  assert.equal(it.monitor.track(object(), target()), 'pending');
  await it.clock.advance(1_000);
  assert.deepEqual([it.probes.length, it.enqueued.length], [1, 1]);
  assert.equal(it.sizeOf(), health.dbSizeBytes);
  await it.clock.advance(60_000);
  assert.deepEqual([it.probes.length, it.enqueued.length], [2, 1]);
  health = healthy(110 * mebibyte);
  await it.clock.advance(60_000);
  assert.deepEqual([it.probes.length, it.enqueued.length], [3, 1]);
  // Small changes add up.
  health = healthy(117 * mebibyte);
  await it.clock.advance(60_000);
  assert.deepEqual([it.probes.length, it.enqueued.length], [4, 2]);
});

test('the period of probes can be set, and applies to a cluster without changes only', async () => {
  let health = healthy(mebibyte);
  await using it = running(() => health, { periodMs: 30_000 });
  it.monitor.track(object(), target());
  await it.clock.advance(1_000);
  await it.clock.advance(30_000);
  assert.equal(it.probes.length, 2);
  health = noSpace;
  await it.clock.advance(30_000);
  const before = it.probes.length;
  await it.clock.advance(10_000);
  assert.ok(it.probes.length > before, 'an alarm is probed more often');
});

test('an alarm is enqueued, and its end is noticed within ten seconds', async () => {
  let health = healthy(mebibyte);
  await using it = running(() => health);
  it.monitor.track(object(), target());
  await it.clock.advance(1_000);
  health = noSpace;
  await it.clock.advance(60_000);
  assert.equal(it.sizeOf(), noSpace.dbSizeBytes);
  const before = it.enqueued.length;
  assert.ok(before >= 2);
  health = healthy(mebibyte);
  await it.clock.advance(10_000);
  assert.equal(it.sizeOf(), health.dbSizeBytes);
  assert.equal(it.enqueued.length, before + 1);
});

test('an alarm stays while etcd cannot be reached, and unreachable members are asked less often', async () => {
  let health: ObservedFigures | undefined | Error = noSpace;
  await using it = running(() => health);
  it.monitor.track(object(), target());
  await it.clock.advance(10_000);
  const before = it.enqueued.length;
  health = undefined;
  await it.clock.advance(10_000);
  health = new Error('refused');
  await it.clock.advance(3_600_000);
  assert.equal(it.sizeOf(), noSpace.dbSizeBytes);
  assert.equal(it.enqueued.length, before);
  // 120 s, 240 s, 480 s, then every 600 s.
  assert.ok(it.probes.length <= 16, `${it.probes.length} probes`);
});

test('a hint causes a probe, at most every five seconds', async () => {
  await using it = running(() => healthy(mebibyte));
  it.monitor.track(object(), target());
  await it.clock.advance(1_000);
  for (let second = 0; second < 20; second++) {
    it.monitor.hint(object());
    await it.clock.advance(1_000);
  }
  assert.ok(it.probes.length >= 4 && it.probes.length <= 6, `${it.probes.length} probes`);
});

test('1,000 control planes cause at most ten probes a second, and each is probed', async () => {
  await using it = running(() => healthy(mebibyte));
  const names = Array.from({ length: 1_000 }, (_, at) => `plane-${at}`);
  for (const name of names) it.monitor.track(object(name), target(name));
  await it.clock.advance(101_000);
  const perSecond = Map.groupBy(it.probes, ({ atMs }) => Math.floor(atMs / 1_000));
  assert.ok(Math.max(...[...perSecond.values()].map(({ length }) => length)) <= 11);
  assert.equal(new Set(it.probes.map(({ name }) => name)).size, 1_000);
});

test('a control plane that is forgotten, or replaced by another of the same name, has no result', async () => {
  await using it = running(() => noSpace);
  it.monitor.track(object(), target());
  await it.clock.advance(1_000);
  assert.equal(it.monitor.track(object('demo', 'second'), target()), 'pending');
  it.monitor.forget(object());
  const before = it.probes.length;
  await it.clock.advance(120_000);
  assert.equal(it.probes.length, before);
});

test('a control plane that is forgotten during a round gets no action', async () => {
  const clock = virtualClock();
  const observed = Promise.withResolvers<void>();
  const actions: string[] = [];
  const care = new EtcdCare({
    clock,
    events: { event: () => {} },
    metrics: new EtcdMetrics(new MetricsRegistry()),
    open: () => ({
      async observe() {
        await observed.promise;
        return observationOf({
          desired: 5,
          members: [0, 1, 2].map(healthyMember).concat([3, 4].map((at) => notMember(at))),
          membership: { replicas: 3 },
        });
      },
      run(action) {
        actions.push(action.type);
        return Promise.resolve(true);
      },
      close: () => {},
    }),
  });
  const log = new Logger({ level: 'silent', format: 'text', clock });
  const context = { cluster: {}, enqueue: () => {}, log } as unknown as SourceContext;
  const ending = new AbortController();
  const ended = care.source(context, ending.signal) as Promise<void>;
  care.track(object(), target());
  await clock.advance(100);
  care.forget(object());
  observed.resolve();
  await clock.advance(10_000);
  assert.deepEqual(actions, []);
  care.track(object(), target());
  await clock.advance(1_000);
  assert.deepEqual([...new Set(actions)], ['addLearner']);
  ending.abort();
  await ended;
});
