/** Bounded waiting: for promises that may hang, be too late, or throw instead of rejecting. A timeout ends the waiting, not the work. */

import type { Clock } from './clock.ts';
import { abortError } from './errors.ts';

/**
 * Settles like the promise, or rejects with `Aborted` as soon as the signal fires, whether or not the promise ever settles. A value after
 * that is passed to `late`; a failure after that is ignored.
 */
export function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  late?: (value: T) => void,
): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    let isOver = signal.aborted;
    const onAbort = (): void => {
      isOver = true;
      reject(abortError(signal));
    };
    if (isOver) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        if (isOver) return late?.(value);
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error as Error);
      },
    );
  });
}

/** Returns true if it settled in time, with any result. */
export function settledWithin(clock: Clock, timeoutMs: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(timeoutMs, () => resolve(false));
    const settle = (): void => {
      timer.cancel();
      resolve(true);
    };
    promise.then(settle, settle);
  });
}

/** Calls foreign code that may throw synchronously instead of rejecting. */
export async function attempted<T>(call: () => Promise<T> | T): Promise<T> {
  return call();
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
