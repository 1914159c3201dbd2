import assert from 'node:assert/strict';
import { test } from 'node:test';
import { similarTo } from './similar.ts';

test('what is similar is found, and not everything is', () => {
  const known = ['demo', 'demon', 'shop', 'production'];
  assert.deepEqual(similarTo('dmeo', known), ['demo']);
  assert.deepEqual(similarTo('prod', known), ['production']);
  assert.deepEqual(similarTo('zzzzzzzz', known), []);
  assert.deepEqual(similarTo('a'.repeat(100_000), known), []);
});
