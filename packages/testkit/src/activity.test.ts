import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { sleep, systemClock } from '@hangar/core';
import { Activity } from './activity.ts';
import { startTestCluster } from './test-cluster.ts';

const idleMetrics = 'workqueue_depth{name="a",priority="0"} 0\ncontroller_runtime_active_workers{controller="a"} 0\n';

test('idle waits for the answers of requests', async () => {
  await using cluster = await startTestCluster();
  const transport = cluster.transportOf();
  const activity = new Activity();
  const slow = activity.watched({
    request: async (request) => {
      // Longer than `idle` takes without requests.
      await sleep(systemClock, 200);
      return transport.request(request);
    },
    close: () => transport.close(),
  });
  const done: string[] = [];
  const listing = new RestClient(slow).list(ConfigMap, { namespace: 'default' }).then(() => done.push('answer'));
  const idle = activity.idle().then(() => done.push('idle'));
  await Promise.all([listing, idle]);
  assert.deepEqual(done, ['answer', 'idle']);
});

for (const busy of [
  'workqueue_depth{name="a",priority="0"} 1',
  'controller_runtime_active_workers{controller="a"} 10',
]) {
  test(`idle waits while a manager has ${busy}`, async () => {
    const activity = new Activity();
    let scrapes = 0;
    // Busy for three scrapes, which is less than the number of idle turns.
    activity.add({ text: () => (++scrapes > 3 ? idleMetrics : `${idleMetrics}${busy}\n`) });
    await activity.idle();
    assert.ok(scrapes > 4, `${scrapes} scrapes`);
  });
}

test('a manager that was deleted does not count', async () => {
  const activity = new Activity();
  const stopped = { text: () => 'workqueue_depth 1\n' };
  activity.add(stopped);
  activity.delete(stopped);
  await activity.idle();
});
