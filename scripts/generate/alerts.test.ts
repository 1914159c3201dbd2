import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertsProblems } from './alerts.ts';

test('the files in deploy/monitoring are what npm run generate writes', async () => {
  assert.deepEqual(await alertsProblems(), []);
});
