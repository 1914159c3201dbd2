import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { indentedPieces } from './indented.ts';

function indented(text: string, bytesMax = Infinity): { readonly text: string; readonly isWhole: boolean } {
  const pieces: Buffer[] = [];
  const steps = indentedPieces(Buffer.from(text), bytesMax);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { text: Buffer.concat(pieces).toString(), isWhole: value };
    pieces.push(value);
  }
}

test('any JSON is indented as JSON.stringify does it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
      assert.equal(indented(JSON.stringify(value)).text, JSON.stringify(value, undefined, 2));
    }),
    { numRuns: 2_000 },
  );
});

test('brackets, colons and quotes in texts are no structure', () => {
  const value = { 'a":{': ['[]', '{}', ',', ':', '\\', '\\"', '"'], empty: [{}, [], [[]], ''] };
  assert.equal(indented(JSON.stringify(value)).text, JSON.stringify(value, undefined, 2));
});

test('long texts and many values are whole across pieces', () => {
  const value = { long: 'x"'.repeat(200_000), many: Array.from({ length: 50_000 }, (_, at) => ({ at })) };
  assert.equal(indented(JSON.stringify(value)).text, JSON.stringify(value, undefined, 2));
});

test('indentation beyond the limit ends it', () => {
  const deep = '['.repeat(1_000) + ']'.repeat(1_000);
  assert.equal(indented(`[${Array(200).fill(deep).join(',')}]`, 10_000_000).isWhole, false);
});
