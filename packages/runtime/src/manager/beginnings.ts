/** A manager's webhooks come first: it waits for them while it begins. */

import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
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
