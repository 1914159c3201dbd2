import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@hangar/core';
import { Keepalive } from './keepalive.ts';

/** A clock that a test moves by hand. */
class ManualClock implements Clock {
  #nowMs = 0;
  #timers: { atMs: number; callback: () => void }[] = [];
  now = () => this.#nowMs;
  monotonicMs = () => this.#nowMs;
  after(delayMs: number, callback: () => void) {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }
  soon(callback: () => void) {
    return this.after(0, callback);
  }
  pass(ms: number): void {
    for (const endMs = this.#nowMs + ms; ;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) {
        this.#nowMs = endMs;
        return;
      }
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
  }
}

function setUp(answers: boolean) {
  const clock = new ManualClock();
  const pingsMs: number[] = [];
  let gaveUpMs: number | undefined;
  const keepalive = new Keepalive({
    clock,
    silenceMs: 1_000,
    answerMs: 1_000,
    ping: (onAnswer) => {
      pingsMs.push(clock.monotonicMs());
      if (answers) clock.after(5, onAnswer);
    },
    giveUp: () => (gaveUpMs = clock.monotonicMs()),
  });
  return { clock, keepalive, pingsMs, gaveUpMs: () => gaveUpMs };
}

test('without calls nothing is sent', () => {
  const { clock, pingsMs } = setUp(true);
  clock.pass(60_000);
  assert.deepEqual(pingsMs, []);
});

test('silence during a call is answered with a ping, and a missing answer ends the connection', () => {
  const { clock, keepalive, pingsMs, gaveUpMs } = setUp(false);
  keepalive.callBegan();
  clock.pass(60_000);
  assert.deepEqual(pingsMs, [1_000]);
  assert.equal(gaveUpMs(), 2_000);
});

test('pings that nothing provoked are six seconds apart', () => {
  const { clock, keepalive, pingsMs, gaveUpMs } = setUp(true);
  keepalive.callBegan();
  clock.pass(20_000);
  assert.deepEqual(pingsMs, [1_000, 7_000, 13_000, 19_000]);
  assert.equal(gaveUpMs(), undefined);
});

test('while something is heard nothing is sent', () => {
  const { clock, keepalive, pingsMs } = setUp(true);
  keepalive.callBegan();
  for (let second = 0; second < 60; second++) {
    clock.pass(500);
    keepalive.heard();
  }
  assert.deepEqual(pingsMs, []);
});

test('when the last call ends, so does the watching', () => {
  const { clock, keepalive, pingsMs } = setUp(true);
  keepalive.callBegan();
  keepalive.callBegan();
  keepalive.callEnded();
  keepalive.callEnded();
  clock.pass(60_000);
  assert.deepEqual(pingsMs, []);
});
