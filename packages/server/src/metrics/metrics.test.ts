import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { absent, openMemoryStore } from '@hangar/store';
import type { Revision } from '@hangar/store';
import { ObservedStore } from './observed-store.ts';
import { processMetrics } from './process-metrics.ts';
import { Counter, Histogram, labelText } from '@hangar/core';

test('labels are escaped, and no labels are nothing', () => {
  assert.equal(labelText({ a: 'x"\\\n', b: '' }), '{a="x\\"\\\\\\n",b=""}');
  assert.equal(labelText({}), '');
});

test('a histogram counts each value in every bucket that holds it', () => {
  const histogram = new Histogram('h', 'help', [1, 2, 4]);
  for (const value of [0.5, 2, 3, 9]) histogram.observe('{x="y"}', value);
  assert.deepEqual(histogram.text().split('\n').slice(2), [
    'h_bucket{x="y",le="1"} 1',
    'h_bucket{x="y",le="2"} 2',
    'h_bucket{x="y",le="4"} 3',
    'h_bucket{x="y",le="+Inf"} 4',
    'h_sum{x="y"} 14.5',
    'h_count{x="y"} 4',
  ]);
});

test('series beyond the bound are counted together', () => {
  const counter = new Counter('c', 'help');
  for (let i = 0; i < 6_000; i++) counter.add(labelText({ i: String(i) }));
  const lines = counter.text().split('\n');
  assert.equal(lines.length, 2 + 5_000 + 1);
  assert.equal(lines.at(-1), 'c{overflow="true"} 1000');
});

test('the store is measured by what is asked of which resource', async () => {
  const store = new ObservedStore(await openMemoryStore(), '/registry', systemClock);
  const key = '/registry/clusters/root/secrets/default/a';
  await store.commit([{ type: 'put', key, value: new Uint8Array(1), expected: absent }]);
  await store.get(key);
  await store.get('/elsewhere');
  await assert.rejects(store.get('/registry/clusters/root/deployments/a/b', { atRevision: 99 as Revision }));
  const text = store.text();
  assert.match(text, /etcd_requests_total\{operation="create",group="",resource="secrets"\} 1/);
  assert.match(text, /etcd_request_duration_seconds_count\{operation="get",group="",resource="secrets"\} 1/);
  assert.match(text, /etcd_request_errors_total\{operation="get",group="apps",resource="deployments"\} 1/);
  assert.match(text, /etcd_requests_total\{operation="get",group="",resource=""\} 1/);
  await store.close();
});

test('the process tells of itself', () => {
  const text = processMetrics();
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_start_time_seconds',
    'process_max_fds',
  ]) {
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    assert.ok(Number(value) > 0, `${name} ${value}`);
  }
});
