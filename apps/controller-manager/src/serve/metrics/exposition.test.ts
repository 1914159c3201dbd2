import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExposition } from './exposition.ts';
import type { ReadOptions } from './exposition.ts';

const labels = { cluster: 'red', service: 'controllers' };
const added = 'cluster="red",service="controllers"';
const lines = (text: string | Uint8Array, options: ReadOptions = { labels }): string[] =>
  readExposition(text, options).bytes.toString().split('\n').slice(0, -1);
const malformed = { code: 'MalformedMetrics' };

test('samples get the labels, before those that they have', () => {
  assert.deepEqual(lines('up 1\ndepth{queue="a"} 2\nempty{} 3\ncomma{a="1",} 4\nspaced { a = "1" , b="2" } 5\n'), [
    `up{${added}} 1`,
    `depth{${added},queue="a"} 2`,
    `empty{${added}} 3`,
    `comma{${added},a="1",} 4`,
    `spaced{${added},a = "1" , b="2"} 5`,
  ]);
});

test('numbers and timestamps stay as they were', () => {
  const values = ['0', '-1.5', '+1e+06', '2.', '.5', 'NaN', '+Inf', '-Inf', '1e-05 1700000000000', '3 -1'];
  assert.deepEqual(
    lines(values.map((value, at) => `m${at} ${value}\n`).join('')),
    values.map((value, at) => `m${at}{${added}} ${value}`),
  );
});

test('the last line need not end', () => {
  assert.deepEqual(lines('a 1\nb 2'), [`a{${added}} 1`, `b{${added}} 2`]);
  assert.deepEqual(lines(''), []);
});

test('a label of the same name is renamed, whatever it takes', () => {
  assert.deepEqual(
    lines(
      [
        'a{cluster="x"} 1',
        'b{service="x",subcluster="y"} 1',
        'c{exported_cluster="x",cluster="y"} 1',
        'd{text="cluster=\\"x\\",service=\\"}\\""} 1',
        '',
      ].join('\n'),
    ),
    [
      `a{${added},exported_cluster="x"} 1`,
      `b{${added},exported_service="x",subcluster="y"} 1`,
      `c{${added},exported_cluster="x",exported_exported_cluster="y"} 1`,
      `d{${added},text="cluster=\\"x\\",service=\\"}\\""} 1`,
    ],
  );
});

test('hostile names are values like others', () => {
  const cluster = 'a"} 1\nevil{x="\\';
  assert.deepEqual(lines('up 1\n', { labels: { cluster } }), ['up{cluster="a\\"} 1\\nevil{x=\\"\\\\"} 1']);
  assert.deepEqual(lines('up{city="Köln"} 1\n', { labels: { cluster: 'grün' } }), ['up{cluster="grün",city="Köln"} 1']);
});

test('what is no UTF-8 becomes so', () => {
  const text = Buffer.concat([Buffer.from('up{a="'), Buffer.of(0xff, 0xc3), Buffer.from('"} 1\n')]);
  assert.deepEqual(lines(text, {}), ['up{a="\ufffd\ufffd"} 1']);
});

test('families have their samples, with the suffixes of their type', () => {
  const { families } = readExposition(
    [
      '# HELP time How long. With # and "quotes".',
      '# TYPE time histogram',
      'time_bucket{le="1"} 1',
      'time_bucket{le="+Inf"} 1',
      'time_sum 1',
      'time_count 1',
      '# TYPE size summary',
      'size{quantile="0.5"} 1',
      'size_sum 1',
      'size_count 1',
      'size_bucket 1',
      '# a remark',
      '',
      '# EOF',
      'plain 1',
      'plain_sum 1',
      '',
    ].join('\n'),
  );
  assert.deepEqual([...families.keys()], ['time', 'size', 'size_bucket', 'plain', 'plain_sum']);
  const { help, type } = families.get('time')!;
  assert.deepEqual({ help, type }, { help: 'How long. With # and "quotes".', type: 'histogram' });
  assert.equal(families.get('plain')!.type, undefined);
});

test('a family in one piece is one range, one in two pieces is two', () => {
  const { families, bytes } = readExposition('a{x="1"} 1\na{x="2"} 2\nb 3\na{x="3"} 4\n');
  const text = ([from, to]: [number, number]): string => bytes.subarray(from, to).toString();
  const { ranges } = families.get('a')!;
  assert.equal(ranges.length, 4);
  assert.equal(text([ranges[0]!, ranges[1]!]), 'a{x="1"} 1\na{x="2"} 2\n');
  assert.equal(text([ranges[2]!, ranges[3]!]), 'a{x="3"} 4\n');
});

test('the first description counts, and none that comes after the samples', () => {
  const { families } = readExposition('# TYPE a gauge\n# TYPE a counter\na 1\nb 1\n# TYPE b histogram\nb_sum 1\n');
  assert.equal(families.get('a')!.type, 'gauge');
  assert.equal(families.get('b')!.type, undefined);
  assert.ok(families.has('b_sum'));
});

test('only samples with one of some labels', () => {
  const text = 'a{cluster="red"} 1\na{cluster="blue"} 2\nb 3\nc{other="cluster=\\"red\\""} 4\n';
  assert.deepEqual(lines(text, { onlyWith: new Set(['cluster="red"']) }), ['a{cluster="red"} 1']);
});

for (const text of [
  '<html>\n',
  'up\n',
  'up one\n',
  'up 1 2 3\n',
  'up 1 1.5\n',
  'up{ 1\n',
  'up{a} 1\n',
  'up{a="1" b="2"} 1\n',
  'up{a="1"\n} 1\n',
  'up{a="unended} 1\n',
  'up{a="\\"} 1\n',
  'up{1a="x"} 1\n',
  '1up 1\n',
  'up 1\r\n',
  'up 1_000\n',
  'up 0x10\n',
  '# TYPE up banana\n',
  '\u0000\u0001',
]) {
  test(`${JSON.stringify(text)} is refused, and all that comes with it`, () => {
    assert.throws(() => readExposition(`good 1\n${text}good 2\n`), malformed);
  });
}

test('a text made to keep a pattern busy is refused at once', () => {
  const startedMs = performance.now();
  for (const text of [
    `up{${'a="",'.repeat(50_000)}`,
    `up{a="${'\\'.repeat(200_001)}`,
    `up${' '.repeat(200_000)}x`,
    `up{a=""${' '.repeat(200_000)}`,
    `up 1${' '.repeat(200_000)}x`,
    ' '.repeat(200_000) + 'x',
  ]) {
    assert.throws(() => readExposition(text), malformed);
  }
  assert.ok(performance.now() - startedMs < 1_000);
});
