/** Audit events of all control planes for a service of this process. Events wait, within limits, while the service is not running. */

import { systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { WebhookSink } from '@hangar/server/audit';
import type { AuditSink } from '@hangar/server/audit';

/** Stores a batch: an EventList as JSON. Resolves when it is durable. */
export type AuditReceiver = (body: string) => Promise<unknown>;

const batchWaitMs = 200;
const firstPauseMs = 500;
const waitingMax = 50_000;
const waitingBytesMax = 64 * 1024 * 1024;
/** The service parses a batch as a whole. */
const batchBytesMax = 4 * 1024 * 1024;

export class AuditFeed implements AuditSink {
  readonly #sink: WebhookSink;
  #receiver: AuditReceiver | undefined;

  constructor(log: Logger) {
    this.#sink = new WebhookSink({
      clock: systemClock,
      batchWaitMs,
      firstPauseMs,
      waitingMax,
      waitingBytesMax,
      batchBytesMax,
      attemptsMax: 20,
      onLost: (events, reason) => log.error('audit events were lost', { events, reason }),
      post: async (body) => {
        if (!this.#receiver) throw new Error('the service that stores audit events is not running');
        await this.#receiver(body);
      },
    });
  }

  write(event: string, withoutObjects?: () => string): void {
    this.#sink.write(event, withoutObjects);
  }

  /** Sends events to the receiver. The returned function sends the waiting ones, then ends it. */
  attach(receiver: AuditReceiver): () => Promise<void> {
    this.#receiver = receiver;
    return async () => {
      await this.#sink.flush();
      if (this.#receiver === receiver) this.#receiver = undefined;
    };
  }

  close(): Promise<void> {
    return this.#sink.close();
  }
}
