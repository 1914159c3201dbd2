/**
 * One generation of the index: a database file, its two threads, and the feed that keeps it up to date. A generation that is complete is
 * marked in its database, and continues after a restart.
 */

import { asError } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { Batches } from '../feed/batches.ts';
import { Feed } from '../feed/feed.ts';
import type { FeedSource } from '../feed/feed.ts';
import type { OpenedIndex, ReaderRequest, ScanReply, ScanRequest, WriterRequest } from './contract.ts';
import { IndexThread } from './thread.ts';

export interface GenerationOptions {
  readonly id: string;
  readonly file: string;
  readonly source: FeedSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called once, when the database failed: the generation must be replaced. */
  readonly onFailed: (error: Error) => void;
}

interface Threads {
  readonly writer: IndexThread<WriterRequest>;
  readonly reader: IndexThread<ReaderRequest>;
  readonly opened: OpenedIndex;
}

export class Generation {
  readonly id: string;
  readonly file: string;
  readonly cursorKey: Buffer;
  readonly #options: GenerationOptions;
  readonly #writer: IndexThread<WriterRequest>;
  readonly #reader: IndexThread<ReaderRequest>;
  readonly #feed: Feed;
  readonly #running: Promise<void>;
  readonly #synced: Promise<void>;
  #isSynced: boolean;
  #isClosed = false;

  /** Rejects with `IndexFailed` if the file cannot be used. */
  static async open(options: GenerationOptions): Promise<Generation> {
    const { file } = options;
    const writer = new IndexThread<WriterRequest>('writer');
    const reader = new IndexThread<ReaderRequest>('reader');
    try {
      const opened = await writer.send<OpenedIndex>({ type: 'open', file });
      await reader.send({ type: 'open', file });
      return new Generation(options, { writer, reader, opened });
    } catch (error) {
      await Promise.all([reader.close(), writer.close()]);
      throw error;
    }
  }

  private constructor(options: GenerationOptions, { writer, reader, opened }: Threads) {
    this.#options = options;
    this.id = options.id;
    this.file = options.file;
    this.#writer = writer;
    this.#reader = reader;
    this.cursorKey = Buffer.from(opened.cursorKey, 'base64');
    this.#isSynced = opened.isReady;
    const { source, clock, random, log } = options;
    const batches = new Batches({
      clock,
      write: (changes) => writer.send({ type: 'apply', changes }),
      onFailed: (error) => this.#failed(error),
    });
    this.#feed = new Feed({ source, batches, progress: opened.progress, clock, random, log });
    this.#running = this.#feed.run();
    this.#synced = this.#feed.synced.then(() => this.#markReady());
  }

  /** True: it has had all objects. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when it has all objects. Never rejects. */
  get synced(): Promise<void> {
    return this.#synced;
  }

  isLimited(cluster: string): boolean {
    return this.#feed.isLimited(cluster);
  }

  scan(scan: ScanRequest): Promise<ScanReply> {
    return this.#reader.send({ type: 'scan', scan });
  }

  /** Waits for the changes that were received before. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#feed.close();
    await this.#running;
    await Promise.all([this.#reader.close(), this.#writer.close()]);
  }

  async #markReady(): Promise<void> {
    try {
      if (!this.#isClosed) await this.#writer.send({ type: 'ready' });
      this.#isSynced = true;
    } catch (error) {
      this.#failed(asError(error));
    }
  }

  #failed(error: Error): void {
    if (!this.#isClosed) this.#options.onFailed(error);
  }
}
