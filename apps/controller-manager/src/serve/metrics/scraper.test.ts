import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger, systemClock } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { ClusterRow } from '../../contract.ts';
import { parseMetrics } from '../testing/parsed-metrics.ts';
import type { ParsedMetrics } from '../testing/parsed-metrics.ts';
import { processAt, row, state } from '../testing/rows.ts';
import type { MergedExposition } from './merged.ts';
import { Scraper } from './scraper.ts';
import type { Scrape } from './scrape.ts';

function world(rows: readonly ClusterRow[], scrape: Scrape, ownMetrics: () => string = () => 'own 1\n') {
  const clock = virtualClock();
  const logged: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock, write: (line) => logged.push(line) });
  return { clock, logged, scraper: new Scraper({ rows: () => rows, ownMetrics, scrape, clock, log }) };
}

function realWorld(rows: readonly ClusterRow[], scrape: Scrape) {
  const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });
  return { scraper: new Scraper({ rows: () => rows, ownMetrics: () => 'own 1\n', scrape, clock: systemClock, log }) };
}

const read = (merged: MergedExposition): ParsedMetrics => parseMetrics(Buffer.concat([...merged.chunks()]).toString());
const up = (metrics: ParsedMetrics): string[] =>
  Array.from(
    metrics.get('hangar_controller_manager_scrape_up')?.samples ?? [],
    ([series, { value }]) => `${/cluster="(\w+)"/.exec(series)![1]}=${value}`,
  );
const at = (port: number) => ({ controllers: state(processAt(port)) });
const metrics = (port: number): Buffer => Buffer.from(`port ${port}\n`);
const never = (): Promise<never> => new Promise(() => {});

test('who asks while a scrape is under way gets what it brings; who asks after it, something new', async () => {
  let asked = 0;
  const gate = Promise.withResolvers<void>();
  const { scraper } = world([row('a', at(1))], async () => {
    asked++;
    await gate.promise;
    return metrics(asked);
  });
  const both = Promise.all([scraper.scrape(), scraper.scrape()]);
  gate.resolve();
  const [one, other] = await both;
  assert.equal(one, other);
  assert.equal(asked, 1);
  assert.notEqual(await scraper.scrape(), one);
  assert.equal(asked, 2);
});

test('a process that does not answer is left out after five seconds, and its request is given up', async () => {
  const signals: AbortSignal[] = [];
  const { clock, scraper } = world([row('hung', at(1)), row('well', at(2))], ({ port }, { signal }) => {
    if (port === 2) return Promise.resolve(metrics(port));
    signals.push(signal);
    return never();
  });
  const startedMs = clock.monotonicMs();
  const merged = read(await clock.run(scraper.scrape()));
  assert.equal(clock.monotonicMs() - startedMs, 5_000);
  assert.deepEqual(up(merged), ['hung=0', 'well=1']);
  assert.ok(signals[0]!.aborted);
});

test('many that do not answer delay the others once, and never for longer than eight seconds', async () => {
  const hung = Array.from({ length: 100 }, (_, i) => row(`a${i}`, at(1_000 + i)));
  const { clock, scraper } = world([...hung, row('well', at(1))], ({ port }) =>
    port === 1 ? Promise.resolve(metrics(port)) : never(),
  );
  const startedMs = clock.monotonicMs();
  await clock.run(scraper.scrape());
  assert.ok(clock.monotonicMs() - startedMs <= 8_001, `${clock.monotonicMs() - startedMs} ms`);
  const merged = read(await clock.run(scraper.scrape()));
  assert.ok(up(merged).includes('well=1'));
  assert.equal(up(merged).length, 101);
});

test('nonsense, refusals and what throws are left out alone', async () => {
  const rows = ['failed', 'html', 'thrown', 'well'].map((name, i) => row(name, at(i)));
  const { scraper } = world(rows, ({ port }) => {
    if (port === 0) return Promise.reject(new Error('refused'));
    if (port === 1) return Promise.resolve(Buffer.from('<html>'));
    if (port === 2) throw new Error('at once');
    return Promise.resolve(metrics(port));
  });
  const merged = read(await scraper.scrape());
  assert.deepEqual(up(merged), ['failed=0', 'html=0', 'thrown=0', 'well=1']);
  assert.deepEqual([...merged.get('port')!.samples.keys()], ['port{cluster="well",service="controllers"}']);
});

test('what does not run is down; what runs inside this process or elsewhere is nothing to scrape', async () => {
  const rows = [
    row('down', { controllers: state({ phase: 'BackingOff' }) }),
    row('inside', { controllers: state() }, { engine: 'essential' }),
    row('elsewhere', at(1), { isOwned: false }),
  ];
  const { scraper } = world(rows, () => assert.fail('nobody is to be asked'));
  assert.deepEqual(up(read(await scraper.scrape())), ['down=0']);
});

test('our own metrics are ours, whatever a process calls its own', async () => {
  const ownMetrics = (): string => '# TYPE hangar_controller_manager_x gauge\nhangar_controller_manager_x 1\n';
  const theirs = 'hangar_controller_manager_x 2\nhangar_controller_manager_scrape_up 7\ngood 1\n';
  const { scraper } = world([row('a', at(1))], async () => Buffer.from(theirs), ownMetrics);
  const merged = read(await scraper.scrape());
  assert.deepEqual([...merged.get('hangar_controller_manager_x')!.samples.keys()], ['hangar_controller_manager_x{}']);
  assert.deepEqual(up(merged), ['a=1']);
  assert.ok(merged.get('good'));
});

test('without our own metrics, the others are told all the same', async () => {
  for (const ownMetrics of [() => assert.fail('broken'), () => '<html>']) {
    const { scraper } = world([row('a', at(1))], async () => metrics(1), ownMetrics);
    assert.deepEqual(up(read(await scraper.scrape())), ['a=1']);
  }
});

test('some clusters alone: their processes, and what we count of them', async () => {
  const asked: number[] = [];
  const { scraper } = world(
    [row('a', at(1)), row('b', at(2)), row('c', at(3))],
    async ({ port }) => (asked.push(port), metrics(port)),
    () => 'own 1\nready{cluster="a"} 1\nready{cluster="b"} 1\nready{cluster="c"} 1\n',
  );
  const merged = read(await scraper.scrape(new Set(['b', 'a'])));
  assert.deepEqual(asked, [1, 2]);
  assert.deepEqual(up(merged), ['a=1', 'b=1']);
  assert.equal(merged.get('ready')!.samples.size, 2);
  assert.equal(merged.get('own'), undefined);
});

test('memory is bounded: each may answer with so much, and all together with so much', async () => {
  const remark = Buffer.alloc(8 * 1024 * 1024, '#');
  const rows = Array.from({ length: 20 }, (_, i) => row(`a${i}`, at(i)));
  const { scraper } = world(rows, async (_process, { maxBytes }) => {
    assert.equal(maxBytes, remark.length);
    return remark;
  });
  const all = up(read(await scraper.scrape()));
  assert.equal(all.filter((one) => one.endsWith('=1')).length, 16);
  assert.equal(all.filter((one) => one.endsWith('=0')).length, 4);
});

test('one that answers with too many lines, families or bytes is left out, and the log says so once', async () => {
  const texts = [
    'a 1\n'.repeat(200_000),
    Array.from({ length: 6_000 }, (_, i) => `m${i} 1\n`).join(''),
    `a{b="${'x'.repeat(200)}"} 1\n`.repeat(90_000),
  ];
  const { clock, logged, scraper } = world(
    [...texts.keys(), 3].map((port) => row(`a${port}`, at(port))),
    async ({ port }) => Buffer.from(texts[port] ?? 'well 1\n'),
  );
  for (let i = 0; i < 2; i++) {
    const merged = read(await clock.run(scraper.scrape()));
    assert.deepEqual(up(merged), ['a0=0', 'a1=0', 'a2=0', 'a3=1']);
  }
  assert.equal(logged.length, 3, logged.join(''));
});

test('nothing else waits for long while much is read', async () => {
  const lines = Array.from({ length: 90_000 }, (_, i) => `duration_seconds_bucket{name="${i}",le="0.001"} 12345\n`);
  const text = Buffer.from(lines.join(''));
  const { scraper } = realWorld(
    Array.from({ length: 4 }, (_, i) => row(`a${i}`, at(i))),
    async () => text,
  );
  let [turns, isOver] = [0, false];
  const scraped = scraper.scrape().finally(() => (isOver = true));
  for (; !isOver; turns++) await new Promise(setImmediate);
  assert.ok((await scraped).byteLength > 4 * text.length);
  assert.ok(turns > 300, `${turns} turns of the event loop`);
});

test('families of all together are bounded', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => row(`a${i}`, at(i)));
  const { clock, scraper } = world(rows, async ({ port }) =>
    Buffer.from(Array.from({ length: 4_000 }, (_, i) => `m${port}_${i} 1\n`).join('')),
  );
  const all = up(read(await clock.run(scraper.scrape())));
  assert.equal(all.filter((one) => one.endsWith('=1')).length, 4);
});

test('when it is closed, what is under way is given up, and nothing new begins', async () => {
  const { scraper } = world([row('a', at(1))], never);
  const scraped = assert.rejects(scraper.scrape(), { code: 'ServiceUnavailable' });
  await new Promise(setImmediate);
  scraper.close();
  await scraped;
  await assert.rejects(scraper.scrape(), { code: 'ServiceUnavailable' });
});

test('different scrapes at once are bounded', async () => {
  const { scraper } = world([row('a', at(1))], never);
  const begun = Array.from({ length: 128 }, (_, i) => scraper.scrape(new Set(['a', String(i)])));
  await assert.rejects(scraper.scrape(), { code: 'ServiceUnavailable' });
  await new Promise(setImmediate);
  scraper.close();
  assert.ok((await Promise.allSettled(begun)).every(({ status }) => status === 'rejected'));
});
