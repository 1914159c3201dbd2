import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { Deadlines } from './deadlines.ts';

test('each is due its time after it was added, unless it was deleted', async () => {
  const clock = virtualClock();
  const due: string[] = [];
  const deadlines = new Deadlines<string>(clock, 100, (one) => due.push(`${one} at ${clock.monotonicMs()}`));
  deadlines.add('a');
  await clock.advance(30);
  deadlines.add('b');
  deadlines.add('c');
  await clock.advance(10);
  deadlines.delete('a');
  deadlines.add('d');
  await clock.advance(1_000);
  assert.deepEqual(due, ['b at 130', 'c at 130', 'd at 140']);
  deadlines.add('e');
  await clock.advance(99);
  deadlines.stop();
  await clock.advance(100);
  assert.equal(due.length, 3);
});

test('what is added or deleted from inside is seen', async () => {
  const clock = virtualClock();
  const due: string[] = [];
  const deadlines: Deadlines<string> = new Deadlines<string>(clock, 100, (one) => {
    due.push(one);
    if (one === 'a') {
      deadlines.delete('b');
      deadlines.add('c');
    }
  });
  deadlines.add('a');
  deadlines.add('b');
  await clock.advance(150);
  assert.deepEqual(due, ['a']);
  await clock.advance(50);
  assert.deepEqual(due, ['a', 'c']);
});
