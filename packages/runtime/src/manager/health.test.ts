import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { Health } from './health.ts';

const newHealth = () => {
  const clock = new Scheduler(seededRandom(1));
  return { clock, health: new Health({ name: 'readyz', clock, log: undefined, timeoutMs: 5_000 }) };
};
const ask = async (health: Health, name = '', query = '') => {
  const { status, body } = await health.answer(name, new URLSearchParams(query));
  return [status, body];
};

test('without checks there is one that is always well', async () => {
  const { health } = newHealth();
  assert.deepEqual(await ask(health), [200, 'ok']);
  assert.deepEqual(await ask(health, '', 'verbose'), [200, '[+]ping ok\nreadyz check passed\n']);
  assert.deepEqual(await ask(health, 'ping'), [200, 'ok']);
});

test('one that fails is named, without its reason; the others are shown in order', async () => {
  const { health } = newHealth();
  health.add('queue', () => {});
  health.add('database', () => Promise.reject(new Error('secret address')));
  health.add('alarm', () => {
    throw new Error('secret');
  });
  const lines =
    '[-]alarm failed: reason withheld\n[-]database failed: reason withheld\n[+]queue ok\nreadyz check failed\n';
  assert.deepEqual(await ask(health), [500, lines]);
  assert.deepEqual(await ask(health, 'queue'), [200, 'ok']);
  assert.deepEqual(await ask(health, 'database'), [500, 'internal server error: reason withheld\n']);
  assert.equal((await ask(health, 'unknown'))[0], 404);
});

test('a check can be left out; one that does not exist cannot', async () => {
  const { health } = newHealth();
  health.add('bad', () => Promise.reject(new Error()));
  assert.deepEqual(await ask(health, '', 'exclude=bad'), [200, 'ok']);
  assert.deepEqual(await ask(health, '', 'exclude=bad&verbose&exclude=no'), [
    200,
    '[+]bad excluded: ok\nwarn: some health checks cannot be excluded: no matches for "no"\nreadyz check passed\n',
  ]);
});

test('a check that hangs is not well after five seconds, and is told so', async () => {
  const { health, clock } = newHealth();
  let given: AbortSignal | undefined;
  health.add('hung', (signal) => {
    given = signal;
    return new Promise(() => {});
  });
  const [status] = await clock.run(ask(health));
  assert.equal(status, 500);
  assert.equal(clock.monotonicMs(), 5_000);
  assert.equal(given!.aborted, true);
});
