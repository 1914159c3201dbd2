import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { Debounce } from './debounce.ts';

function debounce() {
  const clock = virtualClock();
  const at: number[] = [];
  return { clock, at, debounce: new Debounce({ clock, quietMs: 100, settled: () => at.push(clock.monotonicMs()) }) };
}

test('a burst ends when it is quiet, or has gone on for too long', async () => {
  const { clock, at, debounce: it } = debounce();
  it.poke();
  await clock.advance(60);
  it.poke();
  assert.equal(it.isPending, true);
  await clock.advance(500);
  assert.deepEqual(at, [160]);
  assert.equal(it.isPending, false);
  for (let count = 0; count < 25; count++) {
    it.poke();
    await clock.advance(50);
  }
  assert.equal(at[1], 560 + 1_000);
});

test('what was taken back does not happen', async () => {
  const { clock, at, debounce: it } = debounce();
  it.poke();
  it.cancel();
  await clock.advance(1_000);
  assert.deepEqual(at, []);
});

test('whoever comes again and again waits longer, until there was calm', async () => {
  const { clock, at, debounce: it } = debounce();
  const waits: number[] = [];
  const settle = async (): Promise<void> => {
    const begunMs = clock.monotonicMs();
    const before = at.length;
    it.poke();
    await clock.until(() => at.length > before);
    waits.push(at.at(-1)! - begunMs);
  };
  for (let count = 0; count < 12; count++) await settle();
  assert.deepEqual(waits.slice(0, 7), [100, 100, 100, 100, 200, 400, 800]);
  assert.equal(waits.at(-1), 6_400);
  it.poke();
  it.calm();
  it.cancel();
  await settle();
  assert.equal(waits.at(-1), 6_400, 'while there are changes there is no calm');
  it.calm();
  await settle();
  assert.equal(waits.at(-1), 100);
});
