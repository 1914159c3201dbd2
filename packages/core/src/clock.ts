/**
 * Time as a dependency. Nothing outside this file and the simulation reads the machine's clock or sets its timers,
 * so that a simulation owns every delay and can replay it from a seed.
 */

import { abortError } from './errors.ts';

export interface Timer {
  /** Idempotent; after it the callback never runs. */
  cancel(): void;
}

export interface Clock {
  /** Wall time in milliseconds since 1970: for timestamps, never for measuring. */
  now(): number;
  /** Milliseconds that only grow: for timeouts and measuring. */
  monotonicMs(): number;
  /** Runs `callback` once, not before `delayMs` passed. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
  /** Runs `callback` after the currently runnable code: lets input and output through inside a long loop. */
  soon(callback: () => void): Timer;
  /**
   * Runs `callback` between two turns of the loop, before the next input is read: the time of background work is not measured as time of a
   * request. At most once in a millisecond for each caller. Absent: as `soon`.
   */
  betweenTurns?(callback: () => void): Timer;
}

const timerMaxMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    let timeout: NodeJS.Timeout;
    // Timers of the system end at 2^31 ms and fire at once beyond: a longer delay is waited for in pieces.
    const wait = (leftMs: number) => {
      const pieceMs = Math.min(leftMs, timerMaxMs);
      timeout = setTimeout(() => (leftMs > pieceMs ? wait(leftMs - pieceMs) : callback()), pieceMs);
      timeout.unref();
    };
    wait(delayMs);
    return { cancel: () => clearTimeout(timeout) };
  },
  soon(callback) {
    const immediate = setImmediate(callback);
    return { cancel: () => clearImmediate(immediate) };
  },
  // The loop runs timers before it reads input, and immediates after it.
  betweenTurns(callback) {
    const timeout = setTimeout(callback, 1);
    return { cancel: () => clearTimeout(timeout) };
  },
};

/** Waits `delayMs`; rejects with code `Aborted` as soon as the signal fires. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal));
    const onAbort = () => {
      timer.cancel();
      reject(abortError(signal!));
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Gives way between two slices of background work, such as scans and copies: requests that wait come first. */
export function giveWay(clock: Clock): Promise<void> {
  return new Promise((resolve) => (clock.betweenTurns ? clock.betweenTurns(resolve) : clock.soon(resolve)));
}

/** Gives way once, so that a long loop does not starve the process. */
export function breathe(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
