/** Rejects a hanging request after its timeout, even if its transport ignores the signal. */

import { ClientError } from '@hangar/client';
import { abortError, attempted } from '@hangar/core';
import type { Clock } from '@hangar/core';

export interface Bound {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with `TimedOut` or `Aborted` even when the work never settles. */
export function bounded<T>(
  { clock, timeoutMs, signal }: Bound,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(abortError(signal));
  return new Promise<T>((resolve, reject) => {
    const request = new AbortController();
    const end = (settle: () => void): void => {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
      settle();
      request.abort();
    };
    const onAbort = (): void => end(() => reject(abortError(signal!)));
    const timer = clock.after(timeoutMs, () =>
      end(() => reject(new ClientError('TimedOut', `timed out after ${timeoutMs} ms`))),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    attempted(() => work(request.signal)).then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
