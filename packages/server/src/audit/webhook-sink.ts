/**
 * Sends events to another server in batches. The number of pending events, their size and the number of retries are bounded. While the
 * server is slow, events lose their objects first.
 */

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
  /** A batch with more is sent in parts. Sizes are in characters of the events. */
  readonly batchBytesMax?: number;
  readonly waitingMax?: number;
  readonly waitingBytesMax?: number;
  readonly attemptsMax?: number;
  readonly firstPauseMs?: number;
}

/** The defaults of kube-apiserver, which does not bound waiting bytes. */
const defaults = {
  batchLengthMax: 400,
  batchBytesMax: 10 * 1024 * 1024,
  batchWaitMs: 30_000,
  waitingMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  attemptsMax: 5,
  firstPauseMs: 10_000,
};

/** Share of the waiting bytes that events with objects may use; the rest is for events without them. */
const wholeShare = 0.75;

export class WebhookSink implements AuditSink {
  readonly #options: WebhookSinkOptions & typeof defaults;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #timer: { cancel(): void } | undefined;
  #sending: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: WebhookSinkOptions) {
    this.#options = { ...defaults, ...options };
  }

  write(event: string, withoutObjects?: () => string): void {
    const { waitingMax, waitingBytesMax, batchWaitMs, clock, onLost } = this.#options;
    if (this.#closing.signal.aborted) return;
    const isTight = this.#waitingBytes + event.length > waitingBytesMax * wholeShare;
    const kept = isTight && withoutObjects ? withoutObjects() : event;
    if (this.#waiting.length >= waitingMax || this.#waitingBytes + kept.length > waitingBytesMax) {
      return onLost(1, 'the buffer of audit events is full');
    }
    this.#waiting.push(kept);
    this.#waitingBytes += kept.length;
    if (this.#hasWholeBatch()) this.#send();
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
      await this.#sendOne(this.#nextBatch());
      if (!this.#hasWholeBatch() && !this.#closing.signal.aborted) break;
    }
    if (this.#waiting.length > 0)
      this.#timer ??= this.#options.clock.after(this.#options.batchWaitMs, () => this.#send());
  }

  #hasWholeBatch(): boolean {
    const { batchLengthMax, batchBytesMax } = this.#options;
    return this.#waiting.length >= batchLengthMax || this.#waitingBytes >= batchBytesMax;
  }

  /** Returns at least one event. */
  #nextBatch(): readonly string[] {
    const { batchLengthMax, batchBytesMax } = this.#options;
    let length = 0;
    let bytes = 0;
    for (const event of this.#waiting) {
      if (length === batchLengthMax || (length > 0 && bytes + event.length > batchBytesMax)) break;
      bytes += event.length;
      length++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, length);
  }

  async #sendOne(batch: readonly string[]): Promise<void> {
    const { post, clock, attemptsMax, firstPauseMs, onLost } = this.#options;
    let body: string | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        // May fail, too: the length of a string is limited.
        body ??= `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${batch.join(',')}]}`;
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
