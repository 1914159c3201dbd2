/**
 * A backend with two threads on one database: one parses, summarizes and writes batches, the other answers queries. The event loop of the
 * API server only passes bytes on, so no batch and no query stalls it.
 */

import module from 'node:module';
import { Worker } from 'node:worker_threads';
import { BatchError } from '../ingest/batch.ts';
import type { IngestSource } from '../ingest/batch.ts';
import type { ActivityPolicy } from '../policy/policy.ts';
import type { ActivityPage, ActivityQuery, EventPage, EventQuery, StoredActivity } from '../storage/contract.ts';
import type { VisiblePlanes } from '../storage/contract.ts';
import type { Backend, Commit, Ingested } from './backend.ts';
import { isShared } from './open-database.ts';

export interface ThreadedBackendOptions {
  /** File of SQLite, or `postgres://…`. */
  readonly address: string;
  readonly policies: readonly ActivityPolicy[];
  readonly retentionMs: number;
  readonly databaseBytesMax?: number;
  /** Heap of the thread that writes. */
  readonly writerMemoryMb?: number;
  readonly onError: (error: Error) => void;
}

/**
 * Heaps of the threads. A batch of 32 MiB can be JSON of ten million empty objects, which the writer holds once; queries are bounded by
 * bytes. A thread that needs more exits: the process continues, and `failed` resolves.
 */
const defaultWriterMemoryMb = 1_024;
const readerMemoryMb = 256;
const youngMemoryMb = 32;

export interface ThreadData extends Omit<ThreadedBackendOptions, 'onError' | 'writerMemoryMb'> {
  readonly isReader: boolean;
}

type Method = Exclude<keyof Backend, 'onCommit' | 'isShared'>;

export interface Call {
  readonly id: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly message: string; readonly isBatchError: boolean }
  | { readonly type: 'commit'; readonly commit: Commit }
  | { readonly type: 'problem'; readonly message: string };

export class ThreadedBackend implements Backend {
  readonly #writer: BackendThread;
  readonly #reader: BackendThread;

  readonly isShared: boolean;
  /** Resolves when a thread has failed: then the backend no longer works and must be opened again. */
  readonly failed: Promise<Error>;

  private constructor(writer: BackendThread, reader: BackendThread, isShared: boolean) {
    this.isShared = isShared;
    this.#writer = writer;
    this.#reader = reader;
    this.failed = Promise.race([writer.failed, reader.failed]);
  }

  /** Rejects if the database cannot be opened. */
  static async open(options: ThreadedBackendOptions): Promise<ThreadedBackend> {
    const writer = await BackendThread.start(options, false);
    try {
      // The writer has created the tables.
      return new ThreadedBackend(writer, await BackendThread.start(options, true), isShared(options.address));
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  ingest(body: Uint8Array, source: IngestSource): Promise<Ingested> {
    return this.#writer.call('ingest', [body, source]);
  }

  query = (query: EventQuery): Promise<EventPage> => this.#reader.call('query', [query]);
  activities = (query: ActivityQuery): Promise<ActivityPage> => this.#reader.call('activities', [query]);
  countActivities = (query: ActivityQuery): Promise<number> => this.#reader.call('countActivities', [query]);
  secret = (): Promise<Uint8Array> => this.#reader.call('secret', []);

  activity(version: number, planes: VisiblePlanes): Promise<StoredActivity | undefined> {
    return this.#reader.call('activity', [version, planes]);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#writer.commits.add(listener);
    return () => void this.#writer.commits.delete(listener);
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

class BackendThread {
  readonly commits = new Set<(commit: Commit) => void>();
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #onError: (error: Error) => void;
  #lastId = 0;
  #failure: Error | undefined;
  #isClosing = false;
  readonly #failed = Promise.withResolvers<Error>();
  readonly failed = this.#failed.promise;

  private constructor(worker: Worker, onError: (error: Error) => void) {
    this.#worker = worker;
    this.#onError = onError;
  }

  static async start(options: ThreadedBackendOptions, isReader: boolean): Promise<BackendThread> {
    const { onError, writerMemoryMb = defaultWriterMemoryMb, ...data } = options;
    const workerData = { ...data, isReader, compileCache: module.getCompileCacheDir?.() };
    const resourceLimits = {
      maxOldGenerationSizeMb: isReader ? readerMemoryMb : writerMemoryMb,
      maxYoungGenerationSizeMb: youngMemoryMb,
    };
    const worker = new Worker(new URL('./thread-entry.js', import.meta.url), { workerData, resourceLimits });
    const thread = new BackendThread(worker, onError);
    const ready = Promise.withResolvers<void>();
    worker.on('message', (reply: Reply) => (reply.type === 'ready' ? ready.resolve() : thread.#receive(reply)));
    worker.on('error', (error) => {
      ready.reject(error as Error);
      thread.#fail(error as Error);
    });
    worker.on('exit', () => {
      const error = new Error('the thread of the activity database exited');
      ready.reject(error);
      thread.#fail(error);
    });
    await ready.promise;
    return thread;
  }

  call<Result>(method: Method, args: readonly unknown[]): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (this.#failure) {
      reject(this.#failure);
      return promise;
    }
    const id = ++this.#lastId;
    this.#pending.set(id, { resolve, reject });
    this.#worker.postMessage({ id, method, args } satisfies Call);
    return promise;
  }

  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    if (this.#failure) return;
    this.#isClosing = true;
    await this.call('close', []).catch(this.#onError);
    await exited;
  }

  #receive(reply: Exclude<Reply, { type: 'ready' }>): void {
    switch (reply.type) {
      case 'commit':
        for (const tell of this.commits) tell(reply.commit);
        break;
      case 'problem':
        this.#onError(new Error(reply.message));
        break;
      case 'result':
        this.#take(reply.id)?.resolve(reply.result as never);
        break;
      case 'error':
        this.#take(reply.id)?.reject(reply.isBatchError ? new BatchError(reply.message) : new Error(reply.message));
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    if (!this.#isClosing) this.#failed.resolve(this.#failure);
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}
