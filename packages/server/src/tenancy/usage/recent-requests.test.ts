import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { recentLoads } from './recent-activity.ts';
import { RecentRequests } from './recent-requests.ts';
import { RecentStalls } from './recent-stalls.ts';

const minuteMs = 60_000;

function requests(nowMs: number, count: number, durationMs?: number, into = new RecentRequests()): RecentRequests {
  for (let i = 0; i < count; i++) into.add(nowMs, durationMs);
  return into;
}

const loadsAt = (nowMs: number, tenants: Readonly<Record<string, RecentRequests>>) =>
  recentLoads(new Map(Object.entries(tenants).map(([path, recent]) => [path, { recent }])), nowMs);

test('requests count for one to two minutes', () => {
  const recent = requests(10, 120, 5);
  const rate = (nowMs: number) => loadsAt(nowMs, { a: recent }).get('a')!.requestsPerSecond;
  assert.equal(rate(10), 2);
  assert.equal(rate(minuteMs), 2);
  assert.equal(rate(1.5 * minuteMs), 1.33);
  assert.equal(rate(2 * minuteMs), 0);
  requests(5 * minuteMs, 60, 5, recent);
  assert.equal(rate(5 * minuteMs), 1);
  assert.equal(rate(60 * minuteMs), 0);
});

test('a percentile is of the requests with a duration, of the tenant or of its neighbours', () => {
  const slow = requests(0, 3, 2_000, requests(0, 97, 3));
  const loads = loadsAt(0, { fast: requests(0, 1_000, 3), slow, watching: requests(0, 1_000) });
  assert.ok(loads.get('fast')!.p99Seconds! <= 0.005);
  assert.ok(loads.get('slow')!.p99Seconds! > 1);
  assert.equal(loads.get('watching')!.p99Seconds, undefined);
  assert.ok(loads.get('fast')!.neighbourP99Seconds! > 1, 'of the slow one');
  assert.ok(loads.get('slow')!.neighbourP99Seconds! <= 0.005);
  const longest = loadsAt(0, { a: requests(0, 100, 1e9) }).get('a')!;
  assert.equal(longest.p99Seconds, 30);
});

test('stalls count for an hour, in bounded memory', async () => {
  const clock = new Scheduler(seededRandom(1));
  const stalls = new RecentStalls(clock);
  stalls.add('a');
  await clock.advance(30 * minuteMs);
  for (let i = 0; i < 3; i++) stalls.add('a');
  assert.equal(stalls.count('a'), 4);
  await clock.advance(31 * minuteMs);
  assert.equal(stalls.count('a'), 3);
  assert.equal(stalls.count('b'), 0);
  for (let i = 0; i < 2_000; i++) stalls.add(`t${i}`);
  assert.equal(stalls.count('a'), 0, 'the tenant whose last stall is oldest is removed first');
  assert.equal(stalls.count('t1999'), 1);
  for (let i = 0; i < 1_000; i++) stalls.add('t1999');
  assert.equal(stalls.count('t1999'), 100);
});
