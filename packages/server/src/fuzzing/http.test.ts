import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { fuzz } from './http.fuzz.ts';

// A taste of `npm run fuzz -- http`, so that what fails at once does not wait for somebody to run it.
test('the fuzz target http finds nothing in 2 runs', async () => {
  for (let seed = 0; seed < 2; seed++) await fuzz(seededRandom(seed));
});
