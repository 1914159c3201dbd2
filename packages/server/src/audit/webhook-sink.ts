/** Sends events to another server in batches. The number of pending events and of retries is bounded. */

import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { AuditSink } from './sink.ts';

export interface WebhookSinkOptions {
  /** Posts an EventList; rejects if it was not accepted. */
  post(body: string): Promise<void>;
  readonly clock: Clock;
  /** Called for dropped batches with the number of lost events. */
  readonly onLost: (events: number, reason: string) => void;
  readonly batchLengthMax?: number;
  readonly batchWaitMs?: number;
  readonly waitingMax?: number;
  readonly attemptsMax?: number;
  readonly firstPauseMs?: number;
}

/** The defaults of kube-apiserver. */
const defaults = { batchLengthMax: 400, batchWaitMs: 30_000, waitingMax: 10_000, attemptsMax: 5, firstPauseMs: 10_000 };

export class WebhookSink implements AuditSink {
  readonly #options: WebhookSinkOptions & typeof defaults;
  #waiting: string[] = [];
  #timer: { cancel(): void } | undefined;
  #sending: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: WebhookSinkOptions) {
    this.#options = { ...defaults, ...options };
  }

  write(event: string): void {
    const { waitingMax, batchLengthMax, batchWaitMs, clock, onLost } = this.#options;
    if (this.#closing.signal.aborted) return;
    if (this.#waiting.length >= waitingMax) return onLost(1, 'the buffer of audit events is full');
    this.#waiting.push(event);
    if (this.#waiting.length >= batchLengthMax) this.#send();
    else this.#timer ??= clock.after(batchWaitMs, () => this.#send());
  }

  /** Sends the pending events now; resolves when they are sent, or wait for a retry. */
  async flush(): Promise<void> {
    this.#send();
    await this.#sending;
  }

  /** Pending events are tried once more, without delays. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#send();
    await this.#sending;
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.batchLengthMax);
      await this.#sendOne(batch);
      if (this.#waiting.length < this.#options.batchLengthMax && !this.#closing.signal.aborted) break;
    }
    if (this.#waiting.length > 0)
      this.#timer ??= this.#options.clock.after(this.#options.batchWaitMs, () => this.#send());
  }

  async #sendOne(batch: readonly string[]): Promise<void> {
    const { post, clock, attemptsMax, firstPauseMs, onLost } = this.#options;
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${batch.join(',')}]}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await post(body);
      } catch (error) {
        if (attempt === attemptsMax || this.#closing.signal.aborted) {
          return onLost(batch.length, (error as Error).message);
        }
        await sleep(clock, firstPauseMs * 1.5 ** (attempt - 1), this.#closing.signal).catch(() => undefined);
      }
    }
  }
}
