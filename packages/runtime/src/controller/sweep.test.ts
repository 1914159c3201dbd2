import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { seededRandom, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { Sweep } from './sweep.ts';

const count = 10_000;

function open(everything: () => Iterable<number> = () => Array(count).keys(), ownClock?: Clock) {
  const scheduler = new Scheduler(seededRandom(1));
  const clock = ownClock ?? scheduler;
  const told: { one: number; priority: number }[] = [];
  const failures: string[] = [];
  const sweep = new Sweep<number>({
    clock,
    everything,
    each: (one, priority) => void told.push({ one, priority }),
    onFailure: ({ message }) => void failures.push(message),
  });
  return { clock: scheduler, told, failures, sweep };
}

describe('a sweep', () => {
  test('comes to everything, a little in each turn, and to nothing before it is the next turn', async () => {
    const { told, sweep } = open(undefined, systemClock);
    sweep.ask(0);
    assert.equal(told.length, 0);
    for (let before = 0; told.length < count; before = told.length) {
      await nextTurn();
      assert.ok(told.length - before <= 200, `${told.length - before} in one turn`);
    }
    assert.deepEqual(
      told.map(({ one }) => one),
      [...Array(count).keys()],
    );
  });

  test('that was asked for a thousand times at once is one, with the highest priority', async () => {
    const { clock, told, sweep } = open();
    for (let at = 0; at < 1_000; at++) sweep.ask(at === 500 ? 7 : -100);
    await clock.advance(1_000);
    assert.equal(told.length, count);
    assert.ok(told.every(({ priority }) => priority === 7));
  });

  test('that is asked for while it is under way is done again, once', async () => {
    let isAskedAgain = false;
    const { clock, told, sweep } = open(function* () {
      for (let at = 0; at < count; at++) {
        if (at === count / 2 && !isAskedAgain) for (let times = 0; times < 1_000; times++) sweep.ask(0);
        if (at === count / 2) isAskedAgain = true;
        yield at;
      }
    });
    sweep.ask(-100);
    await clock.advance(1_000);
    assert.equal(told.length, 2 * count);
    assert.equal(told.filter(({ priority }) => priority === 0).length, count);
    sweep.ask(0);
    await clock.advance(1_000);
    assert.equal(told.length, 3 * count, 'and again later');
  });

  test('that is stopped comes to nothing more', async () => {
    const { clock, told, sweep } = open(function* () {
      for (let at = 0; at < count; at++) {
        if (at === 10) sweep.stop();
        yield at;
      }
    });
    sweep.ask(0);
    await clock.advance(1_000);
    sweep.ask(0);
    await clock.advance(1_000);
    assert.equal(told.length, 10);
  });

  test('that fails says so, and can be asked for again', async () => {
    let runs = 0;
    const { clock, told, failures, sweep } = open(function* () {
      yield 1;
      if (++runs === 1) throw new Error('no more');
      yield 2;
    });
    sweep.ask(0);
    await clock.advance(1);
    assert.deepEqual([told.length, failures], [1, ['no more']]);
    sweep.ask(0);
    await clock.advance(1);
    assert.equal(told.length, 3);
  });
});
