import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';

/** The clock of the system, ahead by some days. */
export class ShiftedClock implements Clock {
  aheadDays = 0;
  now = (): number => systemClock.now() + this.aheadDays * 86_400_000;
  monotonicMs = (): number => systemClock.monotonicMs();
  after: Clock['after'] = (delayMs, callback) => systemClock.after(delayMs, callback);
  soon: Clock['soon'] = (callback) => systemClock.soon(callback);
}
