/**
 * Requests with a timeout, by the injected clock. Unlike runtime's `bounded` it waits until the aborted call has settled: no request is in
 * flight when it settles, so that the next write comes after it.
 */

import { ClientError } from '@hangar/client';
import type { Clock } from '@hangar/core';

/** Gives the call a signal that fires with the outer one, or on timeout; then it rejects with `TimedOut`. */
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
