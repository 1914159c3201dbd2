import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import type { SourceContext } from '@hangar/runtime';
import { virtualClock } from '@hangar/testkit';
import { EtcdMetrics } from '../metrics/etcd-metrics.ts';
import { EtcdCare } from './care.ts';
import type { EtcdObservation } from './observation.ts';
import type { Action } from './plan.ts';
import { mebibyte } from './space/member-space.ts';
import { healthyMember, memberId, observationOf, spaceSettings, statusOf } from './testing/observations.ts';

const object = (name = 'demo') => ({ namespace: 'team', name, uid: name });
const target = (name = 'demo') => ({
  namespace: 'team',
  name,
  hostedControlPlane: name,
  desired: 3,
  space: spaceSettings,
});
const noSpace = { type: 'NOSPACE' as const, member: memberId(1) };

/** By default half of each database is free. */
function observed(changes: { readonly isFull?: boolean; readonly isCompact?: boolean } = {}): EtcdObservation {
  const sizes = { dbSizeBytes: 200 * mebibyte, dbSizeInUseBytes: (changes.isCompact ? 200 : 100) * mebibyte };
  const members = [0, 1, 2].map((at) => ({ ...healthyMember(at), status: statusOf(at, sizes) }));
  return observationOf({ members, alarms: changes.isFull ? [noSpace] : [] });
}

function running(observe: () => EtcdObservation, run: (action: Action) => Promise<boolean>) {
  const clock = virtualClock();
  const [actions, enqueued]: [string[], string[]] = [[], []];
  const registry = new MetricsRegistry();
  const care = new EtcdCare({
    clock,
    events: { event: () => {} },
    metrics: new EtcdMetrics(registry),
    open: ({ name }) => ({
      observe: () => Promise.resolve(observe()),
      run(action) {
        actions.push(`${name} ${action.type}${'pod' in action ? ` ${action.pod}` : ''}`);
        return run(action);
      },
      close: () => {},
    }),
  });
  const context = {
    cluster: {},
    enqueue: ({ name }: { name: string }) => enqueued.push(name),
    log: new Logger({ level: 'silent', format: 'text', clock }),
  } as unknown as SourceContext;
  const ending = new AbortController();
  const ended = care.source(context, ending.signal) as Promise<void>;
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
  };
  return { clock, care, actions, enqueued, registry, [Symbol.asyncDispose]: stop };
}

test('members are defragmented one after the other, the leader last, and not again within an hour', async () => {
  await using it = running(observed, () => Promise.resolve(true));
  it.care.track(object(), target());
  await it.clock.advance(60_000);
  const all = ['demo defragment demo-etcd-1', 'demo defragment demo-etcd-2', 'demo defragment demo-etcd-0'];
  assert.deepEqual(it.actions, all);
  const health = it.care.healthOf(object());
  assert.match(health!.space!.lastDefragTime!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  await it.clock.advance(3_400_000);
  assert.equal(it.actions.length, 3);
  await it.clock.advance(300_000);
  assert.deepEqual(it.actions, [...all, ...all]);
});

test('a defragmentation that fails is counted, and is not repeated at once', async () => {
  await using it = running(observed, () => Promise.reject(new Error('disk full')));
  it.care.track(object(), target());
  await it.clock.advance(1_000);
  assert.equal(it.actions.length, 1);
  assert.match(it.registry.text(), /etcd_defragmentation_failing\{namespace="team",name="demo"\} 1/);
  assert.match(it.registry.text(), /etcd_defragmentations_total\{result="failure"\} 1/);
  await it.clock.advance(3_000_000);
  // Each member once.
  assert.equal(it.actions.length, 3);
});

test('an alarm is reported before the recovery starts, and failed attempts are reported with their number', async () => {
  let isFull = true;
  await using it = running(
    () => observed({ isFull, isCompact: true }),
    () => Promise.resolve(false),
  );
  it.care.track(object(), target());
  await it.clock.advance(100);
  assert.deepEqual([it.enqueued.length, it.actions.length], [1, 0]);
  await it.clock.advance(5_000);
  assert.deepEqual(it.actions, ['demo recoverSpace']);
  await it.clock.advance(600_000);
  // After 30 s, 60 s, 120 s, 240 s.
  assert.ok(it.actions.length >= 4 && it.actions.length <= 6, `${it.actions.length} attempts`);
  assert.equal(it.care.healthOf(object())!.space!.attempts, it.actions.length);
  isFull = false;
  await it.clock.advance(60_000);
  assert.equal(it.care.healthOf(object())!.space!.attempts, 0);
});

test('databases of at most four control planes are rewritten at the same time, and others are still observed', async () => {
  const ends: (() => void)[] = [];
  const run = () => new Promise<boolean>((resolve) => ends.push(() => resolve(true)));
  await using it = running(observed, run);
  for (let at = 0; at < 10; at++) it.care.track(object(`p-${at}`), target(`p-${at}`));
  await it.clock.advance(30_000);
  assert.equal(it.actions.length, 4);
  assert.equal(it.enqueued.length, 6);
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await it.clock.advance(30_000);
  }
  assert.equal(it.actions.length, 30);
});

test('a backup waits for the running defragmentation, and no other one starts meanwhile', async () => {
  let end = () => {};
  await using it = running(observed, () => new Promise<boolean>((resolve) => (end = () => resolve(true))));
  it.care.track(object(), target());
  await it.clock.advance(1_000);
  const held: (() => void)[] = [];
  void it.care.hold(object()).then((one) => held.push(one));
  await it.clock.advance(1_000);
  assert.equal(held.length, 0);
  end();
  await it.clock.advance(300_000);
  assert.equal(it.actions.length, 1);
  const [release] = held;
  release!();
  release!();
  await it.clock.advance(120_000);
  assert.equal(it.actions.length, 2);
  end();
});
