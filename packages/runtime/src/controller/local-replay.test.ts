import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { LocalReplay } from './local-replay.ts';

const names = Array.from({ length: 2_000 }, (_, at) => `c${at}`);

function open({ isBroken = false } = {}) {
  const clock = new Scheduler(seededRandom(1));
  const told: string[] = [];
  const failures: Error[] = [];
  const seen = { readings: 0 };
  const replay = new LocalReplay({
    clock,
    *everything() {
      seen.readings++;
      if (isBroken && seen.readings === 1) throw new Error('broken');
      yield { name: 'of the local one' };
      for (const cluster of names) yield { cluster, name: 'x' };
    },
    enqueue: ({ cluster = '' }) => void told.push(cluster),
    onFailure: (error) => void failures.push(error),
  });
  return { clock, told, failures, seen, replay };
}

test('each cluster is told what is its own, those that come together by one reading', async () => {
  const { clock, told, seen, replay } = open();
  replay.tell('c7');
  assert.deepEqual(told, []);
  await clock.advance(1);
  assert.deepEqual(told, ['c7']);
  for (const name of names) replay.tell(name);
  await clock.advance(1_000);
  assert.equal(seen.readings, 2);
  assert.deepEqual(told.slice(1), names);
  replay.tell('nobody');
  await clock.advance(1_000);
  assert.equal(told.length, 1 + names.length);
});

test('clusters that come one by one cost a reading now and then', async () => {
  const { clock, told, seen, replay } = open();
  for (const name of names) {
    replay.tell(name);
    await clock.advance(1);
  }
  await clock.advance(1_000);
  assert.deepEqual(told, names);
  assert.ok(seen.readings <= 22, `${seen.readings} readings in two seconds`);
});

test('a reading that fails is told, and the next one is not affected', async () => {
  const { clock, told, failures, replay } = open({ isBroken: true });
  replay.tell('c1');
  await clock.advance(1_000);
  assert.deepEqual([told, failures.length], [[], 1]);
  replay.tell('c2');
  await clock.advance(1_000);
  assert.deepEqual(told, ['c2']);
});
