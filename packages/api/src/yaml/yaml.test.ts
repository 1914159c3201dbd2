import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../errors.ts';
import { parseYaml } from './parse.ts';

const scalars: [text: string, value: unknown][] = [
  ['y', true],
  ['No', false],
  ['on', true],
  ['"y"', 'y'],
  ['0x1f', 31],
  ['017', 15],
  ['0o17', 15],
  ['1_000', 1000],
  ['-0b11', -3],
  ['1e3', 1000],
  ['.5', 0.5],
  ['1:30', '1:30'],
  ['2020-01-01', '2020-01-01'],
  ['~', null],
  ['', null],
  ['!!binary aGVsbG8=', 'hello'],
  ['!!str 5', '5'],
];
for (const [text, value] of scalars) {
  test(`the YAML scalar ${JSON.stringify(text)} is ${JSON.stringify(value)}`, () => {
    assert.deepEqual(parseYaml(`a: ${text}`).value, { a: value });
  });
}

test('keys become texts, and only the first document counts', () => {
  assert.deepEqual(parseYaml('1: a\ntrue: b\n---\nc: d\n').value, { 1: 'a', true: 'b' });
});

for (const [text, value] of [
  ['a: 1\n---\nb: [', { a: 1 }],
  ['---\na: 1\n---\n', { a: 1 }],
  ['# comment\n\n--- # start\na: 1\n...\n%bad', { a: 1 }],
  ['%YAML 1.1\n---\na: 1\n--- b', { a: 1 }],
  ['---\n---\na: 1\n', null],
  ['a: |\n  ---\n  ...\nb: ----\n', { a: '---\n...\n', b: '----' }],
  ['---a: 1\n', { '---a': 1 }],
] as const) {
  test(`only the first document of ${JSON.stringify(text)} is read`, () => {
    assert.deepEqual(parseYaml(text, { findRepeated: true }), { value, problems: [] });
  });
}

test('millions of empty documents cost no more than their bytes', () => {
  const before = process.threadCpuUsage();
  assert.equal(parseYaml('---\n'.repeat(750_000), { findRepeated: true }).value, null);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 100_000, `${user + system} µs`);
});

test('repeated keys are named when asked for; the last one counts', () => {
  assert.deepEqual(parseYaml('a: 1\nb: {x: 1, x: 2}\n', { findRepeated: true }), {
    value: { a: 1, b: { x: 2 } },
    problems: ['yaml: unmarshal errors:\n  line 2: key "x" already set in map'],
  });
});

test('aliases become copies, merges are merged', () => {
  const value = parseYaml('a: &a {x: 1}\nb: *a\nc: {<<: *a, z: 2}\n').value as Record<string, object>;
  assert.deepEqual(value, { a: { x: 1 }, b: { x: 1 }, c: { x: 1, z: 2 } });
  assert.notEqual(value['a'], value['b']);
});

test('aliases that multiply are refused before they cost anything', () => {
  let text = 'a0: &a0 [x, x, x, x, x, x, x, x, x]\n';
  for (let i = 1; i < 12; i++) text += `a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]\n`;
  assert.throws(() => parseYaml(text), { code: 'MalformedYaml', message: /excessive aliasing/ });
});

test('a node that contains itself is refused', () => {
  assert.throws(() => parseYaml('a: &a [*a]'), { code: 'TooDeep' });
  assert.throws(() => parseYaml('a: &a {b: {c: *a}}'), { code: 'TooDeep' });
});

for (const [name, text, code] of [
  ['an open list', 'a: [', 'MalformedYaml'],
  ['an unknown tag', 'a: !!js/function x', 'MalformedYaml'],
  ['tabs as indentation', 'a:\n\tb: 1', 'MalformedYaml'],
  ['an unknown alias', 'a: *b', 'MalformedYaml'],
  ['deep nesting', '['.repeat(5000), 'TooDeep'],
  ['deep blocks', Array.from({ length: 1500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'TooDeep'],
] as const) {
  test(`${name} in YAML is a ${code}`, () => assert.throws(() => parseYaml(text), { code }));
}

test('prototypes are out of reach of YAML', () => {
  for (const text of [
    '__proto__: {polluted: 1}',
    'a: &a {__proto__: {polluted: 1}}\nb: *a',
    '<<: {__proto__: {polluted: 1}}',
  ]) {
    const value = parseYaml(text).value as Record<string, unknown>;
    assert.equal(value['polluted'], undefined);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  }
});

test('whatever it is, it is read or refused with a typed error', () => {
  const pieces = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '&a ',
    '*a',
    '!!int ',
    '|',
    '#',
    '? ',
    '<<',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 16 }), (list) => {
      try {
        parseYaml(list.join(''), { findRepeated: true });
      } catch (error) {
        assert.ok(error instanceof ApiError, JSON.stringify(list.join('')));
      }
    }),
    { numRuns: 1500 },
  );
});

test('what would be infinite stays text', () => {
  assert.deepEqual(parseYaml('[.inf, -.Inf, .NaN, 1e999]').value, ['.inf', '-.Inf', '.NaN', '1e999']);
});
