import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { awaitTaken } from './taking.ts';

test('what is not taken is dropped after a minute, what is taken slowly is not', async () => {
  const clock = new Scheduler(seededRandom(1));
  let left = 100_000;
  let dropped = 0;
  const begin = (): (() => void) => awaitTaken(clock, { left: () => left, drop: () => dropped++ });
  const forgotten = begin();
  begin();
  for (let minute = 0; minute < 4; minute++) {
    left -= 16 * 1024;
    await clock.advance(60_000);
    assert.equal(dropped, 0);
  }
  forgotten();
  left -= 16 * 1024 - 1;
  await clock.advance(60_000);
  assert.equal(dropped, 1);
  await clock.advance(600_000);
  assert.equal(dropped, 1);
});
