/** One busy cluster and 99 quiet ones: measures the delay of the quiet ones. Virtual time, a millisecond for each reconcile, one worker. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom, sleep } from '@hangar/core';
import { Queue } from '../queue/queue.ts';
import { triggered } from './testing/triggered.ts';

const quiet = Array.from({ length: 99 }, (_, i) => `quiet-${i}`);
const workMs = 1;

/** Returns the waiting times of the requests of the quiet clusters, ascending. */
async function waits({ backlog }: { backlog: number }): Promise<number[]> {
  const random = seededRandom(42);
  const askedMs = new Map<string, number>();
  const waited: number[] = [];
  await using the = await triggered({
    clusters: ['busy', ...quiet],
    reconcile: async ({ cluster, name }) => {
      const sinceMs = askedMs.get(cluster);
      if (sinceMs !== undefined) waited.push(the.clock.monotonicMs() - sinceMs);
      askedMs.delete(cluster);
      await sleep(the.clock, workMs);
      // The busy cluster always has work.
      if (cluster === 'busy') the.controller.trigger({ cluster, name: `${name}+` });
    },
  });
  for (let i = 0; i < backlog; i++) the.controller.trigger({ cluster: 'busy', name: `r${i}` });
  void the.start();
  // The quiet clusters together use a fifth of the time of the worker.
  while (waited.length < 400) {
    const cluster = quiet[random.below(quiet.length)]!;
    if (!askedMs.has(cluster)) {
      askedMs.set(cluster, the.clock.monotonicMs());
      the.controller.trigger({ cluster, name: 'one' });
    }
    await the.clock.advance(random.fraction() * 10);
  }
  return waited.sort((a, b) => a - b);
}

describe('with a cluster that has ten thousand requests', () => {
  test('99% of the requests of 99 quiet ones begin within four reconciles', async () => {
    const waited = await waits({ backlog: 10_000 });
    const p99 = waited[Math.floor(waited.length * 0.99)]!;
    assert.ok(p99 <= 4 * workMs, `p99 ${p99} ms, most ${waited.at(-1)} ms`);
    assert.ok(waited.at(-1)! <= 6 * workMs, `most ${waited.at(-1)} ms`);
  });

  test('a single request of another is the next but one at most', () => {
    const queue = new Queue({ name: 'test' });
    for (let i = 0; i < 10_000; i++) queue.add({ cluster: 'busy', name: `r${i}` });
    const order: string[] = [];
    for (let i = 0; i < 100; i++) {
      queue.add({ cluster: 'quiet', name: `q${i}` });
      for (let turn = 0; turn < 2; turn++) {
        const taken = queue.tryTake()!;
        order.push(taken.request.cluster);
        queue.done(taken.request);
      }
    }
    for (let i = 0; i < order.length; i += 2) assert.ok(order.slice(i, i + 2).includes('quiet'), `turn ${i}`);
  });

  test('clusters with as much work each get as much', () => {
    const queue = new Queue({ name: 'test' });
    for (let i = 0; i < 1_000; i++)
      for (let cluster = 0; cluster < 10; cluster++) queue.add({ cluster: `c${cluster}`, name: `r${i}` });
    const share = new Map<string, number>();
    for (let i = 0; i < 1_000; i++) {
      const { request } = queue.tryTake()!;
      share.set(request.cluster, (share.get(request.cluster) ?? 0) + 1);
      queue.done(request);
    }
    assert.deepEqual(
      [...share.values()],
      Array.from({ length: 10 }, () => 100),
    );
  });
});
