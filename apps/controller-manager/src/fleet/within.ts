/**
 * Requests that end in time, by the injected clock. Unlike runtime's `bounded` it waits for the call's own end, which the signal brings
 * about: nothing is under way any more when it settles, so that whoever writes next comes after it.
 */

import { ClientError } from '@hangar/client';
import type { Clock } from '@hangar/core';

/** Gives the call a signal that fires with the outer one, or after so long; then it rejects with `TimedOut`. */
export async function within<T>(
  clock: Clock,
  timeoutMs: number,
  outer: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const timer = clock.after(timeoutMs, () =>
    controller.abort(new ClientError('TimedOut', `the request timed out after ${timeoutMs} ms`)),
  );
  try {
    return await call(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    timer.cancel();
    outer.removeEventListener('abort', onAbort);
  }
}
