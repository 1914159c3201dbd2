/** Gadgets, right and wrong: every field with values of every kind, and the combinations that matter. */

type Fields = Record<string, unknown>;

const spec = (fields: Fields): Fields => ({ spec: { name: 'abc', ...fields } });

/** Values that some field or other must refuse. */
const values: readonly unknown[] = ['', 'text', 5, -1, 2.5, true, null, [], {}, ['a'], { a: 1 }];
const fields: readonly string[] =
  'name replicas big ratio mode level flag port portRange when tags ports labels counts free closed anything either nested template fixed growing title steps id code unknown'.split(
    ' ',
  );

const formatted: Readonly<Record<string, readonly string[]>> = {
  when: [
    '2020-01-01T00:00:00Z',
    '2020-01-01t00:00:00.5+01:00',
    '2020-02-30T00:00:00Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01',
  ],
  day: ['2020-01-01', '2020-2-1', '2021-02-29', '2020-01-01T'],
  mail: ['a@b.c', 'a', 'Name <a@b.c>', '<a@b.c>', 'a@', '"a b"@c.d', 'a b@c.d', 'a@b@c', 'a@[1.2.3.4]', 'é@b.c'],
  address: ['1.2.3.4', '1.2.3', '01.2.3.4', '::1', '::ffff:1.2.3.4', '1.2.3.256', ''],
  address6: ['::1', '1.2.3.4', 'fe80::1%eth0', '1:2:3:4:5:6:7:8', '1::2::3', '::ffff:1.2.3.4'],
  network: ['10.0.0.0/8', '10.0.0.0', '10.0.0.0/33', '::/0', '::/129', '010.0.0.0/8', '1.2.3.4/08'],
  id: ['12345678-1234-1234-1234-123456789abc', '12345678123412341234123456789ABC', 'x'],
  link: ['http://a.b/c', '/path', 'path', 'http://a b', 'a:b', 'http://[::1]:80/x', '', 'http://a.b:x/', '%zz', '/%zz'],
  host: ['a.b.c', '-a', 'a_b', 'example.com', 'a', 'a.b', 'é.example'],
  hardware: [
    '00:00:5e:00:53:01',
    '00-00-5e-00-53-01',
    '0000.5e00.5301',
    '00:00:5e:00:53',
    '00:00-5e:00:53:01',
    '02:00:5e:10:00:00:00:01',
  ],
  wait: ['1h', '5 min', 'soon', '1h30m', '3 parsecs', '2 weeks', '1.5h', ''],
  data: ['YWI=', 'YWI', '', 'YWJj', '!!!!'],
  secret: ['anything'],
  odd: ['anything'],
  short: ['abc', 'Abc', 'a.b', `${'a'.repeat(64)}`],
};

const combinations: readonly Fields[] = [
  {},
  { spec: null },
  { spec: 'text' },
  { spec: {} },
  { spec: { name: 'abc' }, status: { phase: 'Wrong' } },
  { spec: { name: 'abc' }, status: { phase: 'Ready', extra: 1 }, extra: { a: 1 } },
  { spec: { name: 'abc' }, status: { replicas: -1 } },
  { spec: { name: 'abc' }, status: { replicas: 'many' } },
  { spec: { name: 'abc' }, metadata: { name: 'forbidden' } },
  { spec: { name: 'abc' }, metadata: { name: 'abc', foo: 'bar' } },
  { spec: { name: 'abc' }, metadata: { name: 'abc', labels: { a: 1 } } },
  { spec: { name: 'abc' }, metadata: { name: 'abc', finalizers: ['mine'] } },
  ...[
    { name: 'zero' },
    { name: 'a' },
    { name: 'abcdefghijk' },
    { name: 'ABC' },
    { name: 'ééé' },
    { replicas: 11 },
    { replicas: 3_000_000_000 },
    { replicas: 1.5, name: 7 },
    { big: 3 },
    { big: 4 },
    { big: 9 },
    { big: 1e30 },
    { ratio: 0.75 },
    { ratio: 0.3 },
    { ratio: 2.5 },
    { ratio: 3 },
    { ratio: 1 },
    { level: 2 },
    { level: 1.5 },
    { mode: 'on' },
    { portRange: '80%' },
    { portRange: 'x' },
    { portRange: 80 },
    { port: '80' },
    { tags: ['a', 'b'] },
    { tags: ['a', 'b', 'a', 'a'] },
    { tags: ['a', 'b', 'c', 'd', 'e'] },
    { ports: [{ number: 1 }, { number: 1, protocol: 'UDP' }] },
    { ports: [{ number: 1 }, { number: 1, protocol: 'TCP' }] },
    { ports: [{ number: 13 }, { number: 14, label: 'toolong', other: 1 }] },
    { ports: [{ protocol: 'UDP' }, null, 5] },
    { labels: { a: 'b', c: 'toolong' } },
    { labels: { a: 'b', c: 'd', e: 'f', g: 'h' } },
    { labels: { a: null, b: 5 } },
    { counts: { a: null, b: 5 } },
    { counts: { a: 'x' } },
    { free: { x: { y: 1 }, known: { a: 'b', c: 'd' } } },
    { closed: { a: { b: 1 } } },
    { anything: [{ a: 1 }] },
    { either: { a: 'x' } },
    { either: { a: 'x', b: 'y' } },
    { either: { b: 'y', c: 3 } },
    { either: { a: 'long', c: 4 } },
    { either: { c: 4 } },
    { either: { a: 5, c: 'x' } },
    { nested: { depth: null, list: [{}, { on: null }, null, { on: true, off: 1 }] } },
    { nested: { depth: { value: 'x' } } },
    { nested: null },
    { flag: null, when: null },
    {
      template: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'x', labels: { a: 'b' }, foo: 1 },
        spec: { x: 'y', z: 1 },
        other: 1,
      },
    },
    { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b', labels: { 'a b': 'c d' } } } },
    { template: { kind: 'pod!', metadata: {} } },
    { template: { apiVersion: 'a/b/c', kind: '' } },
    { template: { apiVersion: 1, kind: 'Pod' } },
    { template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 } } } },
    { low: 5, high: 3 },
    { low: 3, high: 5 },
    { low: 'x', high: 5, fixed: 'a' },
    { title: 'bad news' },
    { title: 'double' },
    { title: 'missing' },
    { steps: ['s1', 'x', 'long long'] },
    { steps: ['s1', 'x'] },
    { growing: 3 },
    { unknown: { a: 1 }, ports: [{ number: 1, x: 1 }], nested: { y: 1 } },
  ].map(spec),
];

export function createBodies(): Fields[] {
  const single = fields.flatMap((field) => values.map((value) => spec({ [field]: value })));
  const formats = Object.entries(formatted).flatMap(([field, texts]) => texts.map((text) => spec({ [field]: text })));
  return [...single, ...formats, ...combinations];
}

export interface UpdatePair {
  readonly from: Fields;
  readonly to: Fields;
  readonly subresource?: string;
}

const change = (from: Fields, to: Fields): UpdatePair => ({ from: spec(from), to: spec(to) });

export function updatePairs(): UpdatePair[] {
  return [
    change({}, {}),
    change({ low: 1 }, { low: 2 }),
    change({ fixed: 'a' }, { fixed: 'a' }),
    change({ fixed: 'a' }, { fixed: 'b' }),
    change({ fixed: 'a' }, {}),
    change({}, { fixed: 'b' }),
    change({ growing: 3 }, { growing: 5 }),
    change({ growing: 3 }, { growing: 2 }),
    change({}, { growing: 2 }),
    change({ ports: [{ number: 1, label: 'a' }] }, { ports: [{ number: 1, label: 'toolong' }] }),
    change({ tags: ['a'] }, { tags: ['a', 'a'] }),
    change({ low: 1 }, { low: 'x' }),
    change({ title: 'good' }, { title: 'bad' }),
    { from: spec({}), to: { ...spec({}), status: { phase: 'Ready' } } },
    { from: spec({}), to: { ...spec({ low: 5 }), status: { phase: 'Ready' } }, subresource: 'status' },
    { from: spec({}), to: { ...spec({}), status: { phase: 'Wrong', items: ['a', 'bb'] } }, subresource: 'status' },
    { from: spec({}), to: { ...spec({}), status: { replicas: -5 } }, subresource: 'status' },
    { from: spec({}), to: { status: { phase: 'Ready', extra: true } }, subresource: 'status' },
    { from: spec({}), to: spec({}), subresource: 'status' },
  ];
}
