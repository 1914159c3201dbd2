import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { dump } from 'js-yaml';
import type { JsonObject } from '../object.ts';
import { dumpYaml, dumpYamlInPieces } from './dump.ts';

/** The form that was compared with the output of kube-apiserver. */
const reference = (value: unknown): string =>
  dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, seqNoIndent: true, quoteStyle: 'double' });

const oddTexts = [
  '',
  ' ',
  '\n',
  '\n\n',
  'a\n',
  'a\n\n',
  '\na',
  ' a\nb',
  'a\n b\n',
  '\n a',
  'a\r\nb',
  'a\tb',
  '\t',
  'a\n\tb',
  '  \n  ',

  '-',
  '- a',
  '-a',
  '?',
  '? a',
  '?a',
  ':',
  ':a',
  '::',
  'a:',
  'a: b',
  'a:b',
  'a #b',
  'a#b',
  '#',
  '#a',
  '=',
  '<<',
  '~',

  'null',
  'Null',
  'true',
  'yes',
  'No',
  'on',
  'y',
  '1',
  '0x1f',
  '0o7',
  '017',
  '1_000',
  '1e3',
  '1.',
  '.5',
  '.inf',
  '.nan',

  '2001-01-01',
  '2001-12-14t21:59:43.10-05:00',
  '1:20',
  '---',
  '...',
  '--- a',
  '%a',
  '@a',
  '`a',
  "'a",
  '"a"',
  '[a',
  '{a',

  ',a',
  '&a',
  '*a',
  '!a',
  '|',
  '>',
  'é',
  '\u00a0',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\uffff',
  '\ud800',
  '😀',
  'a😀\ud800',

  '\x7f',
  '\0',
  '\x1b',
  'a b',
  'a ',
  ' a',
  'k'.repeat(1025),
  `${'k'.repeat(1030)}\n`,
  '😀'.repeat(1030),
];
const text = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...' \n\t:#-?a1"é\\') }),
);
const scalar = fc.oneof(
  text,
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const json = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  object: fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
})).object as fc.Arbitrary<JsonObject>;

test('any JSON object is written as js-yaml writes it', () => {
  fc.assert(
    fc.property(json, (value) => assert.equal(dumpYaml(value), reference(value))),
    { numRuns: 3_000 },
  );
});

test('every odd text is written as js-yaml writes it, as a value, an item and a key', () => {
  for (const one of oddTexts) {
    for (const value of [{ a: one }, { a: [one, [one]] }, { [one]: 1 }, { a: { [one]: [one] } }, { [one]: { b: 1 } }]) {
      assert.equal(dumpYaml(value), reference(value), JSON.stringify(value).slice(0, 100));
    }
  }
});

test('fields without a value are left out', () => {
  assert.equal(dumpYaml({ a: undefined, b: { c: undefined }, d: [undefined] }), 'b: {}\nd:\n- null\n');
});

test('a long text is written in pieces that make the same whole', () => {
  const long = ['"😀\n'.repeat(20_000), '\t"😀'.repeat(20_000), 'x'.repeat(100_000)];
  for (const value of [{ a: long[0] }, { a: [long[1]] }, { a: { b: long[2] } }]) {
    const pieces = [...dumpYamlInPieces(value)];
    assert.ok(pieces.length > 1);
    assert.ok(pieces.every((piece) => piece.length < 200_000));
    assert.equal(pieces.join(''), reference(value));
  }
});

test('deep objects are written to the end without recursion, and indentation is charged to the budget', () => {
  let deep: JsonObject = {};
  for (let depth = 0; depth < 5_000; depth++) deep = { a: deep };
  // `a:` and a line's end on each level, two spaces for each level above, ` {}` at the innermost.
  assert.equal(dumpYaml(deep).length, 5_000 * 3 + 5_000 * 4_999 + 3);
  assert.throws(() => dumpYaml(deep, { lengthMax: 1_000_000 }), { code: 'TooLarge' });
});

test('a text of many lines, deep inside, exceeds the budget before it is written', () => {
  let deep: JsonObject = { text: 'x\n'.repeat(1_000_000) };
  for (let depth = 0; depth < 900; depth++) deep = { a: deep };
  assert.throws(() => dumpYaml(deep, { lengthMax: 10_000_000 }), { code: 'TooLarge' });
});
