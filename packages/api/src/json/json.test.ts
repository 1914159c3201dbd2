import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseJson } from './parse.ts';
import { countMembers, countText, weightOf } from './scan.ts';
import { parseSlowly } from './slow-parser.ts';

const malformed: [text: string, message: string][] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['tru', 'unexpected end of JSON input'],
  ['{"a":}', `invalid character '}' looking for beginning of value`],
  ['{"a":1}x', `invalid character 'x' after top-level value`],
  ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
  ['{"a" 1}', `invalid character '1' after object key`],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', `invalid character '2' after array element`],
  ['"\\x"', `invalid character 'x' in string escape code`],
  ['"\\u12g4"', `invalid character 'g' in \\u hexadecimal character escape`],
  ['"\\n\\u12"', `invalid character '"' in \\u hexadecimal character escape`],
  ['"\\"\\u0041\\x', `invalid character 'x' in string escape code`],
  ['"\\"a', 'unexpected end of JSON input'],
  ['"a\nb"', `invalid character '\\n' in string literal`],
  ['nulx', `invalid character 'x' in literal null (expecting 'l')`],
  ['-x', `invalid character 'x' in numeric literal`],
];
for (const [text, message] of malformed) {
  test(`${JSON.stringify(text)} is refused in kube-apiserver's words`, () => {
    assert.throws(() => parseJson(text), { code: 'MalformedJson', message });
  });
}

test('repeated keys are found, wherever they are, and only when asked for', () => {
  const text = '{"a":{"b":1,"c":[{"x":1,"x":2}],"b":2}}';
  assert.equal(parseJson(text).repeated.size, 0);
  const { value, repeated } = parseJson(text, { findRepeated: true });
  assert.deepEqual(value, { a: { b: 2, c: [{ x: 2 }] } });
  assert.deepEqual([...repeated.values()].sort(), [
    ['b', 'c', 'b'],
    ['x', 'x'],
  ]);
});

test('keys that are equal only after unescaping are repeated too', () => {
  assert.equal(parseJson('{"a":1,"\\u0061":2}', { findRepeated: true }).repeated.size, 1);
});

test('colons and braces inside texts are not counted', () => {
  assert.deepEqual(countText('{"a:{[":"\\":\\\\","b":[[]]}'), {
    depth: 3,
    members: 2,
    weight: 7,
    managedWeight: 0,
    mayOverflow: false,
  });
});

test('the weight of a text is that of its value, and each empty list or object counts one more', () => {
  const empties = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const inner = Object.values(value);
    return inner.reduce<number>((sum, one) => sum + empties(one), inner.length === 0 ? 1 : 0);
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(countText(JSON.stringify(value)).weight, weightOf(value, Infinity) + empties(value));
    }),
  );
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, [1, 2]]));
  assert.equal(countText(JSON.stringify(wide)).weight, weightOf(wide, Infinity));
  assert.equal(weightOf(wide, Infinity), 1 + 300 * 4 + 2 * (300 - 256));
  for (const list of ['a', {}, [1]].map((item) => Array.from({ length: 300 }, () => item))) {
    const isScalar = list[0] === 'a';
    assert.equal(
      weightOf(list, Infinity),
      1 + 300 + (Array.isArray(list[0]) ? 300 : 0) + (isScalar ? 2 * (300 - 256) : 0),
    );
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2)]) {
      assert.equal(countText(text).weight, weightOf(list, Infinity) + empties(list));
    }
  }
});

test('managedFields are weighed apart, so that an object can be sent back as it was read', () => {
  const fieldsV1 = { 'f:data': { '.': {}, 'f:a': {} } };
  const bare = { metadata: { name: 'a', labels: { managedFields: 'x' } }, data: { managedFields: { a: 1 } } };
  const managed = { ...bare, metadata: { managedFields: [{ manager: 'm', fieldsV1 }], ...bare.metadata } };
  const [of, without] = [countText(JSON.stringify(managed)), countText(JSON.stringify(bare))];
  // The comma behind them counts with the others.
  assert.equal(of.weight, without.weight + 1);
  assert.equal(of.managedWeight, countText(JSON.stringify(managed.metadata.managedFields)).weight);
  const heavy = (count: number): string =>
    JSON.stringify({ metadata: { managedFields: Array.from({ length: count }, () => ({ fieldsV1 })) }, data: {} });
  assert.doesNotThrow(() => parseJson(heavy(100), { weightMax: 1_000 }));
  assert.throws(() => parseJson(heavy(400), { weightMax: 1_000 }), { code: 'TooLarge' });
});

test('a text beyond the weight is refused before it is parsed', () => {
  const list = (length: number): string => `[${Array(length).fill(1).join(',')}]`;
  // The first 256 numbers count 1, the others 3.
  const [most, tooMany] = [256 + Math.floor((4_998 - 256) / 3), 256 + Math.ceil((5_000 - 256) / 3)];
  assert.doesNotThrow(() => parseJson(list(most), { weightMax: 5_000 }));
  for (const text of [list(tooMany), `${list(tooMany)}!`]) {
    assert.throws(() => parseJson(text, { weightMax: 5_000 }), { code: 'TooLarge' });
  }
});

test('nesting is bounded, on both paths', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  assert.doesNotThrow(() => parseJson(deep(1000)));
  for (const findRepeated of [false, true]) {
    assert.throws(() => parseJson(deep(1001), { findRepeated }), { code: 'TooDeep' });
    assert.throws(() => parseJson('{"a":'.repeat(500_000), { findRepeated }), { code: 'TooDeep' });
  }
});

test('prototypes are out of reach', () => {
  for (const findRepeated of [false, true]) {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":1,"a":2}';
    const value = parseJson(text, { findRepeated }).value as Record<string, unknown>;
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.ok(Object.hasOwn(value, '__proto__'));
    assert.equal(value['polluted'], undefined);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  }
});

test('what is not UTF-8 and half surrogates become U+FFFD, as in kube-apiserver', () => {
  assert.deepEqual(parseJson(Buffer.from([0x22, 0xff, 0xfe, 0x22])).value, '\ufffd\ufffd');
  assert.deepEqual(parseJson('{"a":"\\ud800"}').value, { a: '\ufffd' });
  assert.deepEqual(parseJson('{"\\ud800":1,"a":"\\\\\\"\\ud83dx"}').value, { '\ufffd': 1, a: '\\"\ufffdx' });
  assert.deepEqual(parseJson('"\\ud83d\\ude00"').value, '😀');
});

test('the slow parser reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseSlowly(text).value, JSON.parse(text));
      assert.equal(countText(text).members, countMembers(JSON.parse(text)));
    }),
    { numRuns: 100 },
  );
});

test('the slow parser accepts and refuses what JSON.parse accepts and refuses', () => {
  const accepts = (read: () => unknown): boolean => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '1',
    '-',
    '.',
    'e',
    'true',
    'null',
    ' ',
    '\\',
    'u00',
    'a',
    '0',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (list) => {
      const text = list.join('');
      assert.equal(
        accepts(() => parseSlowly(text)),
        accepts(() => JSON.parse(text)),
        text,
      );
    }),
    { numRuns: 1000 },
  );
});

test('a number beyond all doubles is refused, wherever it is', () => {
  for (const text of [
    '{"a":[1,{"b":1e400}]}',
    '[-1E+999]',
    '1.5e999',
    `{"a":${'9'.repeat(400)}}`,
    '9'.repeat(400),
    `[${'9'.repeat(400)} ,1]`,
  ]) {
    assert.throws(() => parseJson(text), { code: 'MalformedJson' });
  }
  assert.deepEqual(parseJson('{"a":1e300,"b":"1e400"}').value, { a: 1e300, b: '1e400' });
});
