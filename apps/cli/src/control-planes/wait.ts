/** Waits until an object has the desired state, by a watch that is restarted when it ends or breaks, until the timeout. Does not poll. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';

export interface WaitOptions<T> {
  /** Absent: the kind has no namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /**
   * Called with every state, first the current one; undefined: the object does not exist. Returns true to stop waiting. A throw also stops
   * it.
   */
  readonly isDone: (object: T | undefined) => boolean;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Rejects with `Aborted`. */
  readonly signal: AbortSignal;
  /** Called when the connection broke, before the retry. */
  readonly onBroken?: () => void;
}

const againMs = 250;

/** Resolves with false on timeout. */
export async function waitFor<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  options: WaitOptions<T>,
): Promise<boolean> {
  const { clock, timeoutMs, signal } = options;
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  const either = AbortSignal.any([signal, late.signal]);
  try {
    for (;;) {
      try {
        if (await followed(client, kind, options, either)) return true;
      } catch (error) {
        if (!isBroken(error)) throw error;
        options.onBroken?.();
      }
      await sleep(clock, againMs, either);
    }
  } catch (error) {
    if (late.signal.aborted && !signal.aborted && hasCode(error, 'Aborted')) return false;
    throw error;
  } finally {
    timer.cancel();
    // Closes the watch if it is still open.
    late.abort();
  }
}

/** Resolves with false when the watch ended. */
async function followed<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  { namespace, name, isDone }: WaitOptions<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const fieldSelector = { 'metadata.name': name };
  const { items, resourceVersion } = await client.list(kind, { namespace, fieldSelector, signal });
  if (isDone(items[0])) return true;
  for await (const event of client.watch(kind, { namespace, fieldSelector, resourceVersion, signal })) {
    if (event.type === 'BOOKMARK') continue;
    if (isDone(event.type === 'DELETED' ? undefined : event.object)) return true;
  }
  return false;
}

const broken = ['ConnectionFailed', 'ConnectionLost', 'TimedOut', 'Expired', 'ServiceUnavailable', 'TooManyRequests'];
export const isBroken = (error: unknown): boolean => broken.some((code) => hasCode(error, code));
