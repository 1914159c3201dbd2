import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinKinds, schemaOf, apiVersionOf } from '../builtin/schemas.ts';
import { structType } from '../builtin/types.ts';
import { normalise } from '../fields/normalise.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import {
  decodeMessage,
  decodeProtobuf,
  decodeWatchEvent,
  encodeMessage,
  encodeProtobuf,
  encodeWatchFrame,
  openEnvelope,
} from './envelope.ts';

const bytes = (text: string): Buffer => Buffer.from(text.replace(/[^0-9a-f]/g, ''), 'hex');

/** Encoding of an ObjectMeta with only a one-letter name: fields that are not pointers are always written. */
const metaOf = (letter: string): string => `0a01${letter} 1200 1a00 2200 2a00 3200 3800 4200`;

const configMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } };
const configMapMessage = `0a11 ${metaOf('61')} 1206 0a016b 120176`;
const configMapBytes = bytes(
  `6b387300 0a0f 0a027631 1209 ${Buffer.from('ConfigMap').toString('hex')} 121b ${configMapMessage} 1a00 2200`,
);

test('a ConfigMap is its magic, its envelope and its message', () => {
  assert.equal(encodeProtobuf(configMap).toString('hex'), configMapBytes.toString('hex'));
  assert.deepEqual(decodeProtobuf(configMapBytes), configMap);
});

test('the envelope can be opened without decoding what is inside', () => {
  const { apiVersion, kind, raw } = openEnvelope(configMapBytes);
  assert.deepEqual([apiVersion, kind], ['v1', 'ConfigMap']);
  assert.equal(Buffer.from(raw).toString('hex'), bytes(configMapMessage).toString('hex'));
});

test('an envelope without kind is what the path says', () => {
  const nameless = Buffer.concat([bytes('6b387300 121b'), bytes(configMapMessage)]);
  assert.deepEqual(decodeProtobuf(nameless, { apiVersion: 'v1', kind: 'ConfigMap' }), configMap);
  assert.throws(() => decodeProtobuf(nameless), { code: 'UnknownKind' });
});

const small: [name: string, type: string, value: Record<string, unknown>, hex: string][] = [
  ['a port by name', 'core/v1.HTTPGetAction', { port: 'x' }, '0a00 1207 0801 1000 1a0178 1a00 2200'],
  ['a port by number', 'core/v1.HTTPGetAction', { port: 300 }, '0a00 1207 0800 10ac02 1a00 1a00 2200'],
  [
    'a negative number takes ten bytes',
    'core/v1.Toleration',
    { tolerationSeconds: -1 },
    '0a00 1200 1a00 2200 28ffffffffffffffffff01',
  ],
  ['a list of texts', 'core/v1.ExecAction', { command: ['a', ''] }, '0a0161 0a00'],
  ['a pointer to zero is there', 'core/v1.Toleration', { tolerationSeconds: 0 }, '0a00 1200 1a00 2200 2800'],
  ['a pointer to nothing is not', 'core/v1.Toleration', {}, '0a00 1200 1a00 2200'],
  ['an inlined struct is a message', 'core/v1.Volume', { name: 'v', emptyDir: {} }, '0a0176 1204 1202 0a00'],
  ['a time that is not set', 'meta/v1.Condition', {}, '0a00 1200 1800 2200 2a00 3200'],
  ['a schema or a boolean', 'apiextensions/v1.JSONSchemaPropsOrBool', { Allows: true }, '0801'],
];
for (const [name, type, value, hex] of small) {
  test(`on the wire: ${name}`, () => {
    assert.equal(encodeMessage(structType(type), value).toString('hex'), bytes(hex).toString('hex'));
  });
}

test('an element of a repeated message is its own message', () => {
  const list = {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: {},
    items: [{ metadata: { name: 'a' }, data: { k: 'v' } }],
  };
  const encoded = encodeProtobuf(list);
  assert.ok(encoded.includes(bytes(`121b ${configMapMessage}`)));
  assert.deepEqual(decodeProtobuf(encoded), { ...list });
});

test('a map is written in the order of its bytes, not of UTF-16', () => {
  const data = { '\u{1f600}': '', '\uffee': '', b: '', a: '' };
  const order = [
    ...encodeMessage(schemaOf('v1', 'ConfigMap')!, { data })
      .toString('utf8')
      .matchAll(/[ab\uffee\u{1f600}]/gu),
  ];
  assert.deepEqual(
    order.map(([key]) => key),
    ['a', 'b', '\uffee', '\u{1f600}'],
  );
});

test('a frame of a watch is a length and an event around an encoded object', () => {
  const frame = encodeWatchFrame('ADDED', configMapBytes);
  assert.equal(frame.readUInt32BE(0), frame.length - 4);
  const { type, object } = decodeWatchEvent(frame.subarray(4));
  assert.equal(type, 'ADDED');
  assert.deepEqual(decodeProtobuf(object), configMap);
});

test('fields that nobody knows are passed over, also groups', () => {
  const unknown = '98067b 9206 0161 a306 08 01 a406 9d0600000000 990600000000 00000000';
  assert.deepEqual(decodeMessage(schemaOf('v1', 'ConfigMap')!, bytes(`${configMapMessage} ${unknown}`)), {
    metadata: { name: 'a' },
    data: { k: 'v' },
  });
});

test('packed lists of numbers are understood, as Go understands them', () => {
  const context = structType('core/v1.PodSecurityContext');
  assert.deepEqual(decodeMessage(context, bytes('2203 01ac02')), { supplementalGroups: [1, 300] });
  assert.deepEqual(decodeMessage(context, bytes('2001 20ac02')), { supplementalGroups: [1, 300] });
});

test('a key __proto__ is a key', () => {
  const data = Object.fromEntries([['__proto__', 'x']]);
  const decoded = decodeProtobuf(encodeProtobuf({ ...configMap, data })) as { data: object };
  assert.deepEqual(Object.entries(decoded.data), [['__proto__', 'x']]);
  assert.equal(Object.getPrototypeOf(decoded.data), Object.prototype);
});

const malformed: [name: string, hex: string][] = [
  ['a message that ends in a number', '0a'],
  ['a length beyond the end', '0a05 0a01'],
  ['a huge length', '0affffffff0f'],
  ['a length of eleven bytes', '0affffffffffffffffffff01'],
  ['a wrong wire type', '0801'],
  ['field number zero', '0001'],
  ['an end of no group', '0c'],
  ['a group without end', 'a306'],
  ['wire type seven', 'a706'],
  ['a text that is not UTF-8', '0a03 0a01ff'],
  ['a long text that is not UTF-8', `0a41 0a3f ${'61'.repeat(62)}ff`],
  ['a map entry with a wrong wire type', '1202 0801'],
];
for (const [name, hex] of malformed) {
  test(`${name} is a MalformedProtobuf`, () => {
    assert.throws(() => decodeMessage(schemaOf('v1', 'ConfigMap')!, bytes(hex)), { code: 'MalformedProtobuf' });
  });
}

test('what does not begin like a Kubernetes message is refused', () => {
  for (const text of ['', 'k8s', 'hello', 'k8s\x01']) {
    assert.throws(() => decodeProtobuf(Buffer.from(text, 'latin1')), { code: 'MalformedProtobuf' });
  }
});

test('embedded JSON must be JSON, and numbers must be numbers of JSON', () => {
  assert.throws(() => decodeMessage(structType('apps/v1.ControllerRevision'), bytes('1203 0a017b')), {
    code: 'MalformedProtobuf',
  });
  const infinite = bytes('49000000000000f07f');
  assert.throws(() => decodeMessage(structType('apiextensions/v1.JSONSchemaProps'), infinite), {
    code: 'MalformedProtobuf',
  });
});

test('embedded JSON is bounded in its depth', () => {
  const deep = Buffer.from('['.repeat(5000) + ']'.repeat(5000));
  const message = Buffer.concat([Buffer.from([0x0a, ...varint(deep.length)]), deep]);
  const revision = Buffer.concat([Buffer.from([0x12, ...varint(message.length)]), message]);
  assert.throws(() => decodeMessage(structType('apps/v1.ControllerRevision'), revision), { code: 'TooDeep' });
});

test('nesting is bounded', () => {
  // not { not { … } }: field 28, length by length from the inside.
  let message = Buffer.alloc(0);
  const schema = structType('apiextensions/v1.JSONSchemaProps');
  const not = schema.fields.find(({ name }) => name === 'not')!.number * 8 + 2;
  for (let i = 0; i < 5000; i++) {
    const head = Buffer.from([(not & 0x7f) | 0x80, not >> 7, ...varint(message.length)]);
    message = Buffer.concat([head, message]);
  }
  assert.throws(() => decodeMessage(schema, message), { code: 'TooDeep' });
  let value: Record<string, unknown> = {};
  for (let i = 0; i < 5000; i++) value = { not: value };
  assert.throws(() => encodeMessage(schema, value), { code: 'TooDeep' });
});

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

test('a few bytes cannot become many objects', () => {
  const items = Buffer.alloc(3 << 20, bytes('1200'));
  assert.throws(() => decodeMessage(schemaOf('v1', 'PodList')!, items), {
    code: 'MalformedProtobuf',
    message: /objects/,
  });
});

const invalid: [name: string, spec: unknown, message: RegExp][] = [
  ['a text for a number', { replicas: 'x' }, /^\.spec\.replicas: cannot use string as int32$/],
  ['a number over its size', { replicas: 2 ** 31 }, /replicas/],
  ['a list for a struct', [], /^\.spec: cannot use array as v1\.DeploymentSpec$/],
  ['an object for a list', { template: { spec: { containers: {} } } }, /^\.spec\.template\.spec\.containers: /],
];
for (const [name, spec, message] of invalid) {
  test(`encoding refuses ${name}, and works again afterwards`, () => {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', spec };
    assert.throws(() => encodeProtobuf(object), { code: 'InvalidValue', message });
    assert.equal(encodeProtobuf(configMap).toString('hex'), configMapBytes.toString('hex'));
  });
}

test('kinds that protobuf does not carry are refused', () => {
  assert.throws(() => encodeProtobuf({ apiVersion: 'example.org/v1', kind: 'Foo' }), { code: 'UnknownKind' });
  assert.throws(() => encodeProtobuf({ metadata: {} }), { code: 'UnknownKind' });
});

test('every kind: decoding what was encoded gives the normalised object', () => {
  const random = seededRandom(20_260_101);
  for (const gvk of builtinKinds()) {
    const apiVersion = apiVersionOf(gvk);
    const struct = schemaOf(apiVersion, gvk.kind)!;
    if (struct.fields.every(({ number }) => number === 0)) continue;
    for (let round = 0; round < 8; round++) {
      const object = { ...randomObject(struct, random), kind: gvk.kind, apiVersion };
      const decoded = decodeProtobuf(encodeProtobuf(object));
      const { kind: _kind, apiVersion: _apiVersion, ...fields } = decoded;
      const expected = normalise(struct, object);
      if (!struct.isKind) assert.deepEqual(fields, expected, `${apiVersion} ${gvk.kind}`);
      else assert.equal(JSON.stringify(decoded), JSON.stringify(expected), `${apiVersion} ${gvk.kind}`);
    }
  }
});
