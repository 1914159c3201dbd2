import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { MetricsRegistry } from '../metrics/registry.ts';
import { Queue } from './queue.ts';

const labels = 'name="test",controller="test"';

test('a queue is counted under the names that dashboards know', async () => {
  const clock = new Scheduler(seededRandom(1));
  const registry = new MetricsRegistry();
  const queue = new Queue({ name: 'test', clock, metrics: registry });
  const value = (series: string): string | undefined =>
    registry
      .text()
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1);

  assert.equal(value(`workqueue_depth{${labels},priority="0"}`), '0');
  queue.add({ cluster: 'a', name: 'x' });
  queue.add({ cluster: 'a', name: 'x' });
  queue.add({ cluster: 'b', name: 'x' });
  queue.add({ cluster: 'a', name: 'y' }, { priority: -100 });
  queue.add({ cluster: 'a', name: 'z' }, { afterMs: 60_000 });
  queue.add({ cluster: 'a', name: 'w' }, { rateLimited: true });
  assert.equal(value(`workqueue_depth{${labels},priority="0"}`), '2');
  assert.equal(value(`workqueue_depth{${labels},priority="-100"}`), '1');
  assert.equal(value(`workqueue_adds_total{${labels}}`), '3');
  assert.equal(value(`workqueue_retries_total{${labels}}`), '2');

  await clock.advance(2_000);
  assert.equal(value(`workqueue_adds_total{${labels}}`), '4', 'what was delayed counts when it is due');
  const taken = [queue.tryTake()!, queue.tryTake()!];
  await clock.advance(500);
  queue.tryTake();
  await clock.advance(1_500);
  assert.equal(value(`workqueue_unfinished_work_seconds{${labels}}`), '5.5');
  assert.equal(value(`workqueue_longest_running_processor_seconds{${labels}}`), '2');
  assert.equal(value(`workqueue_queue_duration_seconds_bucket{${labels},le="1"}`), '0');
  assert.equal(value(`workqueue_queue_duration_seconds_bucket{${labels},le="10"}`), '3');
  for (const { request } of taken) queue.done(request);
  assert.equal(value(`workqueue_work_duration_seconds_count{${labels}}`), '2');
  assert.equal(value(`workqueue_work_duration_seconds_sum{${labels}}`), '4');
  assert.equal(value(`workqueue_unfinished_work_seconds{${labels}}`), '1.5');

  void queue.removeCluster('a');
  assert.equal(value(`workqueue_depth{${labels},priority="-100"}`), '0', 'a priority that is over is not left behind');
});
