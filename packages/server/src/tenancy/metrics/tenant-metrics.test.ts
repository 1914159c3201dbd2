import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { TenantMetrics } from './tenant-metrics.ts';

const counts = { tenants: 3, open: 2 };
const requests = 'hangar_tenant_requests_total';

/** Returns the series of a family by their labels. */
function seriesOf(text: string, name: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(name) && /[{ ]/.test(line[name.length]!));
  return new Map(lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const total = (series: ReadonlyMap<string, number>): number => [...series.values()].reduce((sum, one) => sum + one, 0);

function metrics(topMax: number) {
  const clock = new Scheduler(seededRandom(1));
  const all = new TenantMetrics({ clock, topMax, windowMs: 60_000 });
  const ask = (path: string, times: number): void => {
    for (let i = 0; i < times; i++) all.answered(path, 200, 1);
  };
  return { clock, all, ask };
}

test('requests are counted by tenant and class of code, with their time', () => {
  const { all } = metrics(20);
  all.answered('demo', 200, 250);
  all.answered('demo', 201, 250);
  all.answered('demo', 404, 500);
  all.answered('demo', 200, undefined);
  assert.deepEqual(all.text(counts).split('\n'), [
    '# HELP hangar_tenants Number of virtual control planes.',
    '# TYPE hangar_tenants gauge',
    'hangar_tenants 3',
    '# HELP hangar_tenants_open Number of virtual control planes that are open in memory.',
    '# TYPE hangar_tenants_open gauge',
    'hangar_tenants_open 2',
    '# HELP hangar_tenant_requests_total Total number of requests by tenant; the tenants with the most requests have their own series.',
    '# TYPE hangar_tenant_requests_total counter',
    'hangar_tenant_requests_total{tenant="demo",code_class="2xx"} 3',
    'hangar_tenant_requests_total{tenant="demo",code_class="4xx"} 1',
    '# HELP hangar_tenant_request_duration_seconds Response latency by tenant in seconds, without watches.',
    '# TYPE hangar_tenant_request_duration_seconds summary',
    'hangar_tenant_request_duration_seconds_sum{tenant="demo"} 1',
    'hangar_tenant_request_duration_seconds_count{tenant="demo"} 3',
    'hangar_tenant_request_duration_seconds_sum{tenant="other"} 0',
    'hangar_tenant_request_duration_seconds_count{tenant="other"} 0',
    '# HELP hangar_tenant_watches Number of open watches by tenant.',
    '# TYPE hangar_tenant_watches gauge',
    'hangar_tenant_watches{tenant="demo"} 0',
    'hangar_tenant_watches{tenant="other"} 0',
  ]);
});

describe('series', () => {
  test('are of the busiest, however many tenants there are', async () => {
    const { clock, all, ask } = metrics(3);
    for (let i = 0; i < 1_000; i++) ask(`t${i}`, i + 1);
    const before = seriesOf(all.text(counts), requests);
    assert.equal(before.size, 4, 'three and the others');
    for (let i = 0; i < 1_000; i++) ask(`t${i}`, i + 1);
    await clock.advance(60_000);
    const after = seriesOf(all.text(counts), requests);
    assert.equal(total(after), total(before) * 2);
    // They start at 0 with their next request.
    for (let i = 0; i < 1_000; i++) ask(`t${i}`, 1);
    const names = [...seriesOf(all.text(counts), requests).keys()].sort();
    assert.deepEqual(
      names,
      ['other', 't997', 't998', 't999'].map((tenant) => `{tenant="${tenant}",code_class="2xx"}`),
    );
  });

  test('are kept by whoever is about as busy', async () => {
    const { clock, all, ask } = metrics(1);
    ask('a', 10);
    ask('b', 19);
    await clock.advance(60_000);
    assert.equal(seriesOf(all.text(counts), requests).get('{tenant="a",code_class="2xx"}'), 10);
    ask('a', 10);
    ask('b', 21);
    await clock.advance(60_000);
    ask('b', 1);
    const now = seriesOf(all.text(counts), requests);
    assert.deepEqual([...now].sort(), [
      ['{tenant="b",code_class="2xx"}', 1],
      ['{tenant="other",code_class="2xx"}', 10 + 19 + 10 + 21],
    ]);
  });

  test('only grow or start at 0, and their sum only grows, whatever happens', async () => {
    const { clock, all } = metrics(4);
    const random = seededRandom(7);
    const last = new Map<string, number>();
    let [lastTotal, asked] = [0, 0];
    for (let round = 0; round < 300; round++) {
      for (let i = random.below(200); i > 0; i--) {
        all.answered(`t${random.below(30)}`, [200, 404, 503][random.below(3)]!, 1);
        asked++;
      }
      if (random.below(5) === 0) all.forget(`t${random.below(30)}`);
      await clock.advance(random.below(90_000));
      const series = seriesOf(all.text(counts), requests);
      assert.equal(total(series), asked);
      assert.ok(total(series) >= lastTotal);
      lastTotal = total(series);
      for (const [labels, value] of series) {
        const before = last.get(labels) ?? 0;
        const isOther = labels.includes('"other"');
        assert.ok(value >= before || !isOther, `${labels}: ${value} after ${before}`);
      }
      assert.ok(new Set([...series.keys()].map((labels) => labels.split('"')[1])).size <= 5);
      for (const labels of last.keys()) if (!series.has(labels)) last.delete(labels);
      for (const [labels, value] of series) last.set(labels, value);
    }
  });

  test('of a tenant that is called like the others are the others’', async () => {
    const { clock, all, ask } = metrics(2);
    ask('other', 50);
    ask('a', 1);
    await clock.advance(60_000);
    ask('other', 1);
    assert.deepEqual([...seriesOf(all.text(counts), requests)].sort(), [
      ['{tenant="a",code_class="2xx"}', 1],
      ['{tenant="other",code_class="2xx"}', 51],
    ]);
  });

  test('of tenants that are gone are gone', () => {
    const { all, ask } = metrics(2);
    ask('a', 5);
    all.forget('a');
    assert.doesNotMatch(all.text(counts), /tenant="a"/);
    assert.equal(seriesOf(all.text(counts), requests).get('{tenant="other",code_class="2xx"}'), 5);
  });
});

test('watches are counted by tenant, and those of others together', async () => {
  const { all, ask } = metrics(1);
  ask('a', 1);
  const ends = ['a', 'a', 'b', 'c'].map((path) => all.watchBegan(path));
  const watches = (): (number | undefined)[] => {
    const series = seriesOf(all.text(counts), 'hangar_tenant_watches');
    return [series.get('{tenant="a"}'), series.get('{tenant="other"}')];
  };
  assert.deepEqual(watches(), [2, 2]);
  ends[0]!();
  ends[2]!();
  assert.deepEqual(watches(), [1, 1]);
  ends[1]!();
  ends[3]!();
  assert.deepEqual(watches(), [0, 0]);
});
