import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { KeptRequestMetrics } from './kept-request-metrics.ts';
import type { OpenRequestMetrics } from './kept-request-metrics.ts';

const clock = new Scheduler(seededRandom(1));
const answer = ({ metrics }: OpenRequestMetrics, status: number): void =>
  metrics.requests.record({
    info: undefined,
    resource: undefined,
    status,
    query: '',
    startedMs: 0,
    excludedMs: 0,
    bytes: undefined,
  });
const started = ({ metrics }: OpenRequestMetrics): string =>
  /^apiserver_request_metrics_start_time_seconds (\d+)$/m.exec(metrics.text())![1]!;

describe('request counters of closed tenants', () => {
  test('a tenant without requests leaves nothing behind', () => {
    const kept = new KeptRequestMetrics({ clock });
    kept.open('a', '1').close();
    assert.equal(kept.size, 0);
  });

  test('are the same when the tenant is opened again, and others for another identity', () => {
    const kept = new KeptRequestMetrics({ clock });
    const first = kept.open('a', '1');
    answer(first, 200);
    first.close();
    assert.equal(kept.open('a', '1').metrics, first.metrics);
    assert.notEqual(kept.open('a', '2').metrics, first.metrics);
  });

  test('stay while one of two servers of a tenant closes', () => {
    const kept = new KeptRequestMetrics({ clock, seriesMax: 0 });
    const [former, now] = [kept.open('a', '1'), kept.open('a', '1')];
    answer(now, 200);
    former.close();
    assert.equal(kept.open('a', '1').metrics, now.metrics);
  });

  test('beyond the bound start again at zero with a later start time, the tenant that was closed first', async () => {
    const kept = new KeptRequestMetrics({ clock, seriesMax: 3 });
    const opened = ['a', 'b', 'open'].map((path) => kept.open(path, '1'));
    for (const one of opened) for (const status of [200, 404]) answer(one, status);
    const before = started(opened[0]!);
    opened[0]!.close();
    opened[1]!.close();
    await clock.advance(60_000);
    const [a, b, open] = ['a', 'b', 'open'].map((path) => kept.open(path, '1'));
    assert.notEqual(a!.metrics, opened[0]!.metrics);
    assert.ok(Number(started(a!)) > Number(before));
    assert.equal(b!.metrics, opened[1]!.metrics);
    assert.equal(open!.metrics, opened[2]!.metrics);
  });
});
