import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { protocol } from './protocol.ts';
import { defaultTimings, validityMs } from './timings.ts';
import { momentOf, Validity } from './validity.ts';

/** A machine with a renewal that was just sent. `pass` moves the monotonic clock and the wall clock independently. */
function renewed() {
  let [monotonicMs, wallMs] = [5_000, 1_000_000];
  const clock = Object.assign(virtualClock(), { monotonicMs: () => monotonicMs, now: () => wallMs });
  const validity = new Validity(clock, protocol, defaultTimings);
  validity.renewed(momentOf(clock));
  const pass = (on: { monotonicMs?: number; wallMs?: number }): number => {
    monotonicMs += on.monotonicMs ?? 0;
    wallMs += on.wallMs ?? 0;
    return validity.remainingMs();
  };
  return pass;
}

const lastsMs = validityMs(defaultTimings);

describe('the remaining time of a renewal', () => {
  test('shrinks by the time that both clocks show', () => {
    assert.equal(renewed()({ monotonicMs: 1_000, wallMs: 1_000 }), lastsMs - 1_000);
  });

  test('does not grow when the wall clock is set back', () => {
    const pass = renewed();
    pass({ monotonicMs: 1_000, wallMs: 1_000 });
    assert.equal(pass({ wallMs: -30_000 }), lastsMs - 1_000);
  });

  test('shrinks by a sleep after the wall clock was set back', () => {
    const pass = renewed();
    pass({ wallMs: -30_000 });
    assert.equal(pass({ wallMs: 4_000 }), lastsMs - 4_000);
    assert.equal(pass({ wallMs: lastsMs }), 0);
  });

  test('keeps a sleep that was seen before the wall clock was set back', () => {
    const pass = renewed();
    pass({ wallMs: 4_000 });
    assert.equal(pass({ wallMs: -30_000 }), lastsMs - 4_000);
  });
});
