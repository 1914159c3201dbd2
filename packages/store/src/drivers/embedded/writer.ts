/** The main thread's handle on the writer thread. Requests and replies are in order. */

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { asError, systemClock } from '@hangar/core';
import type { Command, Outcome } from '../../engine/command.ts';
import { StoreError } from '../../errors.ts';
import { packGroup, unpackOutcomes } from './wire.ts';
import type { WriterOptions, WriterReply, WriterRequest } from './writer-thread.ts';

interface Waiting {
  readonly group: readonly Command[];
  resolve(outcomes: readonly Outcome[]): void;
  reject(error: Error): void;
}

export class Writer {
  readonly #thread: Worker;
  readonly #waiting: Waiting[] = [];
  readonly #ended: Promise<void>;
  #failure: StoreError | undefined;

  private constructor(options: WriterOptions) {
    const cache = getCompileCacheDir();
    this.#thread = new Worker(new URL('./writer-entry.js', import.meta.url), {
      workerData: { ...options, ...(cache === undefined ? {} : { compileCache: dirname(cache) }) },
      name: 'store-writer',
    });
    this.#thread.on('message', (reply: WriterReply) => this.#settle(reply));
    this.#thread.on('error', (error) => this.#fail(asError(error)));
    this.#ended = new Promise((resolve) => {
      this.#thread.on('exit', () => {
        this.#fail(new Error('it exited'));
        resolve();
      });
    });
  }

  static async start(options: WriterOptions): Promise<Writer> {
    const writer = new Writer(options);
    await new Promise<readonly Outcome[]>((resolve, reject) => writer.#waiting.push({ group: [], resolve, reject }));
    return writer;
  }

  commit(group: readonly Command[]): Promise<readonly Outcome[]> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ group, resolve, reject });
      const packed: WriterRequest = packGroup(group);
      this.#thread.postMessage(packed, [packed.values.buffer]);
    });
  }

  async close(): Promise<void> {
    if (!this.#failure) this.#thread.postMessage(undefined satisfies WriterRequest);
    await this.#ended;
  }

  #settle(reply: WriterReply): void {
    const waiting = this.#waiting.shift()!;
    if ('failure' in reply) waiting.reject(new StoreError(reply.failure.code, reply.failure.message));
    else this.#unpack(unpackOutcomes(reply.outcomes, waiting.group), waiting);
  }

  /** Unpacks in slices. The next group is sent when this one is resolved, so that replies stay in order. */
  #unpack(slices: Generator<void, readonly Outcome[], void>, waiting: Waiting): void {
    const { done, value } = slices.next();
    if (done) waiting.resolve(value);
    else systemClock.soon(() => this.#unpack(slices, waiting));
  }

  /** Fails all pending requests, whose outcome is unknown, and refuses new ones. */
  #fail(error: Error): void {
    this.#failure ??= new StoreError('StorageFailed', `the writer thread stopped: ${error.message}`, {
      cause: error,
    });
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#failure);
  }
}
