import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { renewalMs } from './renewal.ts';

test('credentials are renewed between three quarters and four fifths of their life', () => {
  const random = seededRandom(1);
  for (let round = 0; round < 1000; round++) {
    const at = renewalMs(1000, 2000, random);
    assert.ok(at >= 1750 && at <= 1800, String(at));
  }
});
