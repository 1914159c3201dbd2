/** What a manager waits for while it begins. */

import { hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { orAborted } from '../clusters/engage/or-aborted.ts';
import type { WebhookServer } from '../webhooks/webhook-server.ts';

const webhooksPollMs = 20;

/** Rejects with `Aborted`. */
export async function webhooksListen(webhooks: WebhookServer, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    const isListening = await webhooks.started().then(
      () => true,
      () => false,
    );
    if (isListening) return;
    await sleep(clock, webhooksPollMs, signal);
  }
}

/** False: not in time. Rejects as the promise does, or with `Aborted`. */
export async function settledInTime(
  promise: Promise<unknown>,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const ended = new AbortController();
  const onAbort = () => ended.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = clock.after(timeoutMs, onAbort);
  try {
    await orAborted(promise, ended.signal);
    return true;
  } catch (error) {
    if (signal.aborted || !ended.signal.aborted || !hasCode(error, 'Aborted')) throw error;
    return false;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
