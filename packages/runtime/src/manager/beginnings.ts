/** Waits during the start of a manager until its webhooks listen. */

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
