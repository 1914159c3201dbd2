import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';

/**
 * Returns the clock of the system with delays that are shorter by a factor. Unlike a virtual clock it can be used with code that waits for
 * files, sockets and other processes, for tests in which a back-off is only waited for.
 */
export const fastClock = (factor = 10): Clock => ({
  now: systemClock.now,
  monotonicMs: () => systemClock.monotonicMs() * factor,
  after: (delayMs, callback) => systemClock.after(delayMs / factor, callback),
  soon: systemClock.soon,
});
