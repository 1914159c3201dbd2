import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimiter } from './rate-limit.ts';

test('a cluster has a burst, then so many a second; another has its own', () => {
  const limiter = new RateLimiter({ baseMs: 1, perCluster: { perSecond: 10, burst: 3 } });
  const delays = Array.from({ length: 6 }, () => limiter.delayMs('a', 0, 0));
  assert.deepEqual(delays, [1, 1, 1, 100, 200, 300]);
  assert.equal(limiter.delayMs('b', 0, 0), 1);
});

test('a bucket fills again with time, up to its burst', () => {
  const limiter = new RateLimiter({ baseMs: 1, perCluster: { perSecond: 10, burst: 2 } });
  for (let i = 0; i < 4; i++) limiter.delayMs('a', 0, 0);
  assert.equal(limiter.delayMs('a', 0, 250), 50);
  for (let i = 0; i < 2; i++) assert.equal(limiter.delayMs('a', 0, 60_000), 1);
  assert.equal(limiter.delayMs('a', 0, 60_000), 100);
});

test('the longer of back-off and bucket counts', () => {
  const limiter = new RateLimiter();
  assert.equal(limiter.delayMs('a', 3, 0), 40);
  for (let i = 1; i < 110; i++) limiter.delayMs('a', 0, 0);
  assert.equal(limiter.delayMs('a', 0, 0), 1_100);
  assert.equal(limiter.delayMs('a', 10, 0), 5_120);
  assert.equal(limiter.delayMs('a', 5_000, 0), 1_000_000);
});

test('without a limit for clusters only the back-off counts', () => {
  const limiter = new RateLimiter({ baseMs: 10, maxMs: 30, perCluster: false });
  for (let i = 0; i < 1_000; i++) assert.equal(limiter.delayMs('a', 0, 0), 10);
  assert.equal(limiter.delayMs('a', 9, 0), 30);
});

test('buckets of clusters that are quiet again are not kept: a hundred thousand of them cost nothing', () => {
  const limiter = new RateLimiter();
  for (let i = 0; i < 100_000; i++) limiter.delayMs(`c${i}`, 0, i * 10);
  assert.ok(limiter.bucketCount < 128, `${limiter.bucketCount} buckets`);
});
