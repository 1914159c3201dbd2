import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthAnswer } from './health.ts';
import type { HealthCheck } from './health.ts';

const well: HealthCheck = { name: 'ping', check: () => undefined };
const ill: HealthCheck = { name: 'store', check: () => 'secret address' };
const advice: HealthCheck = { name: 'operator', check: () => 'it is not running', isAdvisory: true };

const ask = async (query: string, ...readyz: HealthCheck[]): Promise<[number, string]> => {
  const { status, body } = await healthAnswer('/readyz', query, { livez: [], readyz });
  return [status, Buffer.from(body as Uint8Array).toString()];
};

test('what is for information is told to who asks for all of it, and changes no verdict', async () => {
  assert.deepEqual(await ask('', well, advice), [200, 'ok']);
  assert.deepEqual(await ask('verbose', well, advice), [
    200,
    '[+]ping ok\n[-]operator failed: for information only\nreadyz check passed\n',
  ]);
  const lines = '[-]store failed: reason withheld\n[-]operator failed: for information only\nreadyz check failed\n';
  assert.deepEqual(await ask('', ill, advice), [500, lines]);
  assert.equal((await ask('', advice, ill))[0], 500);
});
