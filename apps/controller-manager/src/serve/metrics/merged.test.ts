import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMetrics } from '../testing/parsed-metrics.ts';
import { readExposition } from './exposition.ts';
import type { Exposition, ReadOptions } from './exposition.ts';
import { MergedExposition } from './merged.ts';

const read = (text: string, options: ReadOptions = {}): Promise<Exposition> =>
  readExposition(text, async () => {}, options);

/** In the given order, unless `order` differs. */
async function merged(texts: readonly string[], order: (at: number) => number = (at) => at): Promise<string> {
  const all = new MergedExposition();
  for (const [at, text] of texts.entries()) all.add(await read(text, { labels: { cluster: String(at) } }), order(at));
  return Buffer.concat([...all.chunks()]).toString();
}

const lines = (...all: string[]): string => `${all.join('\n')}\n`;

test('each family is described once, by the first, and has the samples of all together', async () => {
  const text = await merged([
    lines('# HELP up Whether.', '# TYPE up gauge', 'up 1', '# TYPE a counter', 'a{x="1"} 1', 'a{x="2"} 1'),
    lines('# HELP a Counts.', '# TYPE a counter', 'a 2', '# HELP up Otherwise.', '# TYPE up gauge', 'up 0'),
  ]);
  assert.equal(
    text,
    lines(
      '# HELP a Counts.',
      '# TYPE a counter',
      'a{cluster="0",x="1"} 1',
      'a{cluster="0",x="2"} 1',
      'a{cluster="1"} 2',
      '# HELP up Whether.',
      '# TYPE up gauge',
      'up{cluster="0"} 1',
      'up{cluster="1"} 0',
    ),
  );
});

test('samples are in the order of clusters, whichever answered first', async () => {
  const texts = ['a 0\n', 'a 1\n', 'a 2\n'];
  assert.equal(await merged(texts, (at) => -at), lines('a{cluster="2"} 2', 'a{cluster="1"} 1', 'a{cluster="0"} 0'));
});

test('histograms and summaries keep their samples together', async () => {
  const histogram = lines('# TYPE t histogram', 't_bucket{le="+Inf"} 1', 't_sum 1', 't_count 1');
  const parsed = parseMetrics(await merged([histogram, histogram, 't_other 1\n']));
  assert.equal(parsed.get('t')!.samples.size, 6);
  assert.deepEqual([...parsed.keys()], ['t', 't_other']);
});

test('a number is a number, whatever its type is called elsewhere: the first is right', async () => {
  const parsed = parseMetrics(
    await merged([lines('# TYPE a counter', 'a 1'), lines('# TYPE a gauge', 'a 2'), 'a 3\n']),
  );
  assert.equal(parsed.get('a')!.type, 'counter');
  assert.equal(parsed.get('a')!.samples.size, 3);
});

test('what cannot be read under the type of the first is left out', async () => {
  const scalar = lines('# TYPE a gauge', 'a 1');
  const histogram = lines('# TYPE a histogram', 'a_bucket{le="+Inf"} 1', 'a_sum 1', 'a_count 1');
  const summary = lines('# TYPE a summary', 'a{quantile="0.5"} 1', 'a_sum 1', 'a_count 1');
  const namesakes = lines('a_sum 1', 'a_count 1', 'rest 1');
  for (const [texts, families] of [
    [[scalar, histogram, summary, namesakes], { a: 1, a_count: 1, a_sum: 1, rest: 1 }],
    [[histogram, scalar, summary, namesakes], { a: 3, rest: 1 }],
    [[summary, histogram, scalar, namesakes], { a: 3, rest: 1 }],
    [[namesakes, histogram, summary, scalar], { a: 1, a_count: 1, a_sum: 1, rest: 1 }],
  ] as const) {
    const parsed = parseMetrics(await merged(texts));
    assert.deepEqual(Object.fromEntries(Array.from(parsed, ([name, { samples }]) => [name, samples.size])), families);
  }
});

test('a family in several pieces becomes one', async () => {
  const apart = lines('a{x="1"} 1', 'b 1', 'a{x="2"} 1');
  assert.equal(parseMetrics(await merged([apart, apart])).get('a')!.samples.size, 4);
});

test('names that are reserved are left out', async () => {
  const all = new MergedExposition();
  all.add(await read('# TYPE ours gauge\nours 1\n'), 0);
  all.add(await read('# TYPE ours gauge\nours 2\ntheirs 1\n'), 1, (name) => name === 'ours');
  assert.equal(Buffer.concat([...all.chunks()]).toString(), lines('# TYPE ours gauge', 'ours 1', 'theirs 1'));
});

test('nothing is an empty text', async () => {
  assert.deepEqual([...new MergedExposition().chunks()], []);
});

test('long texts come in pieces of one size, which nobody uses again', async () => {
  const text = Array.from(
    { length: 5_000 },
    (_, i) => `metric_${i % 50}{i="${i}",pad="${'x'.repeat(50)}"} ${i}\n`,
  ).join('');
  const all = new MergedExposition();
  all.add(await read(text), 0);
  assert.ok(all.byteLength >= text.length);
  const chunks = [...all.chunks()];
  assert.ok(chunks.length > 3);
  assert.ok(chunks.slice(0, -1).every(({ length }) => length === 64 * 1024));
  assert.equal(new Set(chunks.map(({ buffer, byteOffset }) => [buffer, byteOffset])).size, chunks.length);
  const samples = [...parseMetrics(Buffer.concat(chunks).toString()).values()].reduce(
    (sum, one) => sum + one.samples.size,
    0,
  );
  assert.equal(samples, 5_000);
  // Repeatable.
  assert.deepEqual(Buffer.concat([...all.chunks()]), Buffer.concat(chunks));
});
