import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsRegistry } from '@hangar/runtime';
import type { ClusterRow } from '../contract.ts';
import { ControllerManagerMetrics } from './own-metrics.ts';
import { processUsage } from './process-usage.ts';
import { parseMetrics } from './testing/parsed-metrics.ts';
import { processAt, row, state } from './testing/rows.ts';

const prefix = 'hangar_controller_manager_';

function metrics(rows: () => ClusterRow[]) {
  const registry = new MetricsRegistry();
  const usageOf = (pid: number) =>
    pid === 1 || pid === process.pid ? { residentBytes: 1_024, cpuSeconds: 1.5 } : undefined;
  new ControllerManagerMetrics(rows, usageOf).register(registry);
  return (family: string): Record<string, string> => {
    const { samples } = parseMetrics(registry.text()).get(family.startsWith('process_') ? family : prefix + family)!;
    return Object.fromEntries(
      Array.from(samples, ([series, { value }]) => [series.slice(series.indexOf('{') + 1, -1), value]),
    );
  };
}

test('clusters are counted by the worst of their services', () => {
  const rows = [
    row('a'),
    row('b', { controllers: state(), scheduler: state({ phase: 'BackingOff' }) }),
    row('c', { controllers: state({ phase: 'Failed' }), scheduler: state({ phase: 'BackingOff' }) }),
    row('d', { controllers: undefined }),
    row('e', {}, { isOwned: false }),
  ];
  assert.deepEqual(metrics(() => rows)('clusters'), {
    'state="Ready"': '1',
    'state="BackingOff"': '1',
    'state="Failed"': '1',
    'state="Waiting"': '1',
    'state="Starting"': '0',
    'state="Stopping"': '0',
    'state="NotOwned"': '1',
  });
});

test('what is told of a cluster goes with it', () => {
  const red = row('red', {
    controllers: state({ ...processAt(1, 1), restarts: 2 }),
    scheduler: state({ phase: 'Starting', ...processAt(2, 2) }),
  });
  let rows = [red, row('blue', { controllers: state() }, { isOwned: false })];
  const family = metrics(() => rows);
  const controllers = 'cluster="red",service="controllers"';
  const scheduler = 'cluster="red",service="scheduler"';
  assert.deepEqual(family('child_restarts_total'), { [controllers]: '2', [scheduler]: '0' });
  assert.deepEqual(family('child_ready'), { [controllers]: '1', [scheduler]: '0' });
  assert.deepEqual(family('child_memory_bytes'), { [controllers]: '1024' });
  assert.deepEqual(family('child_cpu_seconds_total'), { [controllers]: '1.5' });
  assert.deepEqual(family('process_resident_memory_bytes'), { '': '1024' });
  assert.deepEqual(family('process_cpu_seconds_total'), { '': '1.5' });
  rows = [];
  for (const name of ['child_restarts_total', 'child_ready', 'child_memory_bytes', 'child_cpu_seconds_total']) {
    assert.deepEqual(family(name), {});
  }
});

test('names are values, whatever is in them', () => {
  const hostile = 'a"} 1\nb{c="\\';
  assert.deepEqual(Object.keys(metrics(() => [row(hostile)])('child_ready')), [
    `cluster=${JSON.stringify(hostile)},service="controllers"`,
  ]);
});

test('the system tells what a process uses, and nothing of one that is not there', () => {
  const usage = processUsage(process.pid)!;
  const { rss } = process.memoryUsage();
  assert.ok(Math.abs(usage.residentBytes - rss) < 0.5 * rss, `${usage.residentBytes} of ${rss}`);
  const { user, system } = process.cpuUsage();
  assert.ok(Math.abs(usage.cpuSeconds - (user + system) / 1e6) < 0.5);
  assert.equal(processUsage(2 ** 30), undefined);
});
