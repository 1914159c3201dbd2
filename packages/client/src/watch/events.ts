/**
 * Decodes the response of a watch, one JSON document for each line, to events. Not a generator: one that waits for the server cannot be
 * left before the server sends something; this one can, at once.
 */

import { abortError } from '@hangar/core';
import type { WatchEvent } from '../client.ts';
import type { ApiObject } from '../kind.ts';
import type { HttpAnswer } from '../transport/contract.ts';
import { eventOf } from './event.ts';
import { LineSplitter } from './lines.ts';

export interface WatchEventsOptions<T> {
  /** Called once, for the first event. */
  readonly open: (signal: AbortSignal) => Promise<HttpAnswer>;
  readonly signal: AbortSignal | undefined;
  readonly restore: (object: T) => T;
}

type Result<T extends ApiObject> = IteratorResult<WatchEvent<T>, void>;

export class WatchEvents<T extends ApiObject> implements AsyncIterator<WatchEvent<T>, void, void> {
  readonly #options: WatchEventsOptions<T>;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.#controller.abort(this.#options.signal?.reason);
  readonly #splitter = new LineSplitter();
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #lines: string[] = [];
  #at = 0;
  #hasEnded = false;
  #isDone = false;
  #isBusy = false;
  /** Calls of `next` while one is running, in FIFO order. */
  readonly #waiting: (() => void)[] = [];

  constructor(options: WatchEventsOptions<T>) {
    this.#options = options;
  }

  next(): Promise<Result<T>> {
    if (!this.#isBusy) return this.#next();
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => this.#next());
  }

  /** Closes the request, also while `next` waits, which then resolves as done. */
  return(): Promise<Result<T>> {
    this.#finish();
    this.#controller.abort();
    return Promise.resolve(none);
  }

  async #next(): Promise<Result<T>> {
    this.#isBusy = true;
    try {
      for (;;) {
        if (this.#isDone) return none;
        const { signal } = this.#controller;
        if (signal.aborted) throw abortError(signal);
        while (this.#at < this.#lines.length) {
          const line = this.#lines[this.#at++]!;
          if (line !== '') return { done: false, value: eventOf(line, this.#options.restore) };
        }
        if (this.#hasEnded) this.#finish();
        else await this.#more();
      }
    } catch (error) {
      if (this.#isDone) return none;
      this.#finish();
      // The rest of a malformed stream is not read.
      this.#controller.abort();
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isBusy = false;
    }
  }

  async #more(): Promise<void> {
    if (this.#chunks === undefined) {
      const { signal } = this.#options;
      if (signal?.aborted) throw abortError(signal);
      signal?.addEventListener('abort', this.#onAbort, { once: true });
      const answer = await this.#options.open(this.#controller.signal);
      this.#chunks = answer.stream()[Symbol.asyncIterator]();
    }
    const { done, value } = await this.#chunks.next();
    this.#at = 0;
    if (!done) this.#lines = this.#splitter.push(value);
    else {
      this.#hasEnded = true;
      // Most likely incomplete, which the parser then reports.
      this.#lines = [this.#splitter.rest().trim()];
    }
  }

  #finish(): void {
    this.#isDone = true;
    this.#lines = [];
    this.#at = 0;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}

const none = { done: true, value: undefined } as const;
