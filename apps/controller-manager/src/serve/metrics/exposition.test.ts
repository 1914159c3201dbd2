import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExposition } from './exposition.ts';
import type { Exposition, ReadOptions } from './exposition.ts';

const read = (text: string | Uint8Array, options: ReadOptions = {}): Promise<Exposition> =>
  readExposition(text, async () => {}, options);

const labels = { cluster: 'red', service: 'controllers' };
const added = 'cluster="red",service="controllers"';
const lines = async (text: string | Uint8Array, options: ReadOptions = { labels }): Promise<string[]> =>
  (await read(text, options)).bytes.toString().split('\n').slice(0, -1);
const malformed = { code: 'MalformedMetrics' };

test('samples get the labels, before those that they have', async () => {
  assert.deepEqual(
    await lines('up 1\ndepth{queue="a"} 2\nempty{} 3\ncomma{a="1",} 4\nspaced { a = "1" , b="2" } 5\n'),
    [
      `up{${added}} 1`,
      `depth{${added},queue="a"} 2`,
      `empty{${added}} 3`,
      `comma{${added},a="1",} 4`,
      `spaced{${added},a = "1" , b="2"} 5`,
    ],
  );
});

test('numbers and timestamps stay as they were', async () => {
  const values = ['0', '-1.5', '+1e+06', '2.', '.5', 'NaN', '+Inf', '-Inf', '1e-05 1700000000000', '3 -1'];
  assert.deepEqual(
    await lines(values.map((value, at) => `m${at} ${value}\n`).join('')),
    values.map((value, at) => `m${at}{${added}} ${value}`),
  );
});

test('the last line need not end', async () => {
  assert.deepEqual(await lines('a 1\nb 2'), [`a{${added}} 1`, `b{${added}} 2`]);
  assert.deepEqual(await lines(''), []);
});

test('a label of the same name is renamed, whatever it takes', async () => {
  assert.deepEqual(
    await lines(
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

test('hostile names are values like others', async () => {
  const cluster = 'a"} 1\nevil{x="\\';
  assert.deepEqual(await lines('up 1\n', { labels: { cluster } }), ['up{cluster="a\\"} 1\\nevil{x=\\"\\\\"} 1']);
  assert.deepEqual(await lines('up{city="Köln"} 1\n', { labels: { cluster: 'grün' } }), [
    'up{cluster="grün",city="Köln"} 1',
  ]);
});

test('what is no UTF-8 becomes so', async () => {
  const text = Buffer.concat([Buffer.from('up{a="'), Buffer.of(0xff, 0xc3), Buffer.from('"} 1\n')]);
  assert.deepEqual(await lines(text, {}), ['up{a="\ufffd\ufffd"} 1']);
});

test('families have their samples, with the suffixes of their type', async () => {
  const { families } = await read(
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

test('a family in one piece is one range, one in two pieces is two', async () => {
  const { families, bytes } = await read('a{x="1"} 1\na{x="2"} 2\nb 3\na{x="3"} 4\n');
  const text = ([from, to]: [number, number]): string => bytes.subarray(from, to).toString();
  const { ranges } = families.get('a')!;
  assert.equal(ranges.length, 4);
  assert.equal(text([ranges[0]!, ranges[1]!]), 'a{x="1"} 1\na{x="2"} 2\n');
  assert.equal(text([ranges[2]!, ranges[3]!]), 'a{x="3"} 4\n');
});

test('the first description counts, and none that comes after the samples', async () => {
  const { families } = await read('# TYPE a gauge\n# TYPE a counter\na 1\nb 1\n# TYPE b histogram\nb_sum 1\n');
  assert.equal(families.get('a')!.type, 'gauge');
  assert.equal(families.get('b')!.type, undefined);
  assert.ok(families.has('b_sum'));
});

test('only samples with one of some labels', async () => {
  const text = 'a{cluster="red"} 1\na{cluster="blue"} 2\nb 3\nc{other="cluster=\\"red\\""} 4\n';
  assert.deepEqual(await lines(text, { onlyWith: new Set(['cluster="red"']) }), ['a{cluster="red"} 1']);
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
  test(`${JSON.stringify(text)} is refused, and all that comes with it`, async () => {
    await assert.rejects(read(`good 1\n${text}good 2\n`), malformed);
  });
}

test('a text made to keep a pattern busy is refused at once', async () => {
  const startedMs = performance.now();
  for (const text of [
    `up{${'a="",'.repeat(50_000)}`,
    `up{a="${'\\'.repeat(200_001)}`,
    `up${' '.repeat(200_000)}x`,
    `up{a=""${' '.repeat(200_000)}`,
    `up 1${' '.repeat(200_000)}x`,
    ' '.repeat(200_000) + 'x',
  ]) {
    await assert.rejects(read(text), malformed);
  }
  assert.ok(performance.now() - startedMs < 1_000);
});

test('a sample that is made to keep the search for free names busy is refused at once', async () => {
  const startedMs = performance.now();
  await assert.rejects(read(`a{${'cluster="",'.repeat(5_000)}} 1\n`, { labels }), malformed);
  await assert.rejects(read(`a{${Array.from({ length: 20_000 }, (_, i) => `l${i}=""`).join()}} 1\n`), malformed);
  assert.ok(performance.now() - startedMs < 1_000);
});

test('what is more than the limits is refused, whatever it is made of', async () => {
  const limits = { lines: 1_000, families: 100, bytes: 10_000 };
  for (const [text, what] of [
    ['\n'.repeat(1_001), /1000 lines/],
    ['# \n'.repeat(1_001), /1000 lines/],
    ['a 1\n'.repeat(1_001), /1000 lines|10000 bytes/],
    [Array.from({ length: 101 }, (_, i) => `m${i} 1\n`).join(''), /100 families/],
    [Array.from({ length: 101 }, (_, i) => `# TYPE m${i} gauge\n`).join(''), /100 families/],
    ['a 1\n'.repeat(300), /10000 bytes/],
  ] as const) {
    await assert.rejects(read(text, { labels, limits }), { code: 'TooManyMetrics', message: what });
  }
  await read('a 1\n'.repeat(150), { labels, limits });
});

test('it gives way while it reads, and ends when it is told to', async () => {
  let pieces = 0;
  const text = 'a 1\n'.repeat(10_000);
  await readExposition(text, async () => void pieces++);
  assert.ok(pieces >= 30, `${pieces} pieces`);
  const ended = new Error('enough');
  await assert.rejects(
    readExposition(text, () => Promise.reject(ended)),
    ended,
  );
});
