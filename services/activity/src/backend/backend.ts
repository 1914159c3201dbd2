/**
 * The service behind its API: takes batches, answers queries, and reports commits. `LocalBackend` runs in the calling thread; `threads.ts`
 * runs one for writes and one for reads in separate threads.
 */

import type { Clock } from '@hangar/core';
import type { Batch, IngestSource } from '../ingest/batch.ts';
import { readBatch } from '../ingest/batch.ts';
import type { PolicySet } from '../policy/policy.ts';
import type {
  ActivityPage,
  ActivityQuery,
  EventDatabase,
  EventPage,
  EventQuery,
  StoredActivity,
  VisiblePlanes,
} from '../storage/contract.ts';

export interface Ingested {
  /** Number of events that are stored now, or were dropped because their control plane has reached its limit of the day. */
  readonly stored: number;
  /** Number of events that are older than the retention. */
  readonly expired: number;
}

/** New activities were committed. */
export interface Commit {
  readonly version: number;
  readonly changedPlanes: readonly string[];
}

export interface Backend {
  /** Resolves when all events of the batch are durable. Rejects with a `BatchError` if the batch is invalid. */
  ingest(body: Uint8Array, source: IngestSource): Promise<Ingested>;
  query(query: EventQuery): Promise<EventPage>;
  activities(query: ActivityQuery): Promise<ActivityPage>;
  countActivities(query: ActivityQuery): Promise<number>;
  activity(version: number, planes: VisiblePlanes): Promise<StoredActivity | undefined>;
  secret(): Promise<Uint8Array>;
  /** Returns a function that removes the listener. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** Other processes write to the same database: `onCommit` does not report their commits. */
  readonly isShared: boolean;
  close(): Promise<void>;
}

export interface LocalBackendOptions {
  readonly database: EventDatabase;
  readonly policies: PolicySet;
  readonly clock: Clock;
  readonly retentionMs: number;
  /** Size of the database: beyond it, the oldest days are dropped. */
  readonly databaseBytesMax?: number;
  readonly isShared?: boolean;
  readonly onError: (error: Error) => void;
}

interface Waiting {
  readonly body: Uint8Array;
  readonly source: IngestSource;
  readonly resolve: (ingested: Ingested) => void;
  readonly reject: (error: unknown) => void;
}

const limitError = (plane: string): Error =>
  new Error(`events of control plane "${plane}" exceed the limit of a day: further events of today are not stored`);

interface Parsed extends Pick<Waiting, 'resolve' | 'reject'> {
  readonly batch: Batch;
}

const retentionIntervalMs = 3_600_000;
export const defaultDatabaseBytesMax = 20 * 1024 ** 3;
/** The size of the database is checked after batches of this size together. */
const checkedBytes = 64 * 1024 * 1024;
/** A transaction stores the events of further batches only while it has fewer events and bytes. */
const groupEventsMax = 10_000;
const groupBytesMax = 8 * 1024 * 1024;

export class LocalBackend implements Backend {
  readonly isShared: boolean;
  readonly #options: LocalBackendOptions;
  readonly #listeners = new Set<(commit: Commit) => void>();
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #timer: { cancel(): void } | undefined;
  #bytesSinceCheck = 0;
  #isFull = false;

  constructor(options: LocalBackendOptions) {
    this.#options = options;
    this.isShared = options.isShared ?? false;
  }

  /** Drops expired partitions now and every hour. Only for the backend that writes. */
  async startRetention(): Promise<void> {
    await this.#retain();
    this.#timer = this.#options.clock.after(retentionIntervalMs, () => void this.startRetention());
  }

  async #retain(): Promise<void> {
    const { database, databaseBytesMax: bytesMax = defaultDatabaseBytesMax, onError } = this.#options;
    this.#bytesSinceCheck = 0;
    try {
      const wasFull = this.#isFull;
      this.#isFull = !(await database.retain({ beforeUs: this.#oldestUs(), nowUs: this.#nowUs(), bytesMax }));
      if (this.#isFull && !wasFull)
        onError(new Error('the events of today exceed the size of the database: no more are stored'));
    } catch (error) {
      onError(error as Error);
    }
  }

  ingest(body: Uint8Array, source: IngestSource): Promise<Ingested> {
    const { promise, resolve, reject } = Promise.withResolvers<Ingested>();
    this.#waiting.push({ body, source, resolve, reject });
    this.#running ??= this.#commitAll().finally(() => (this.#running = undefined));
    return promise;
  }

  query = (query: EventQuery): Promise<EventPage> => this.#options.database.query(query);
  activities = (query: ActivityQuery): Promise<ActivityPage> => this.#options.database.activities(query);
  countActivities = (query: ActivityQuery): Promise<number> => this.#options.database.countActivities(query);
  secret = (): Promise<Uint8Array> => this.#options.database.secret();

  activity(version: number, planes: VisiblePlanes): Promise<StoredActivity | undefined> {
    return this.#options.database.activity(version, planes);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
    await this.#options.database.close();
  }

  /** Batches that arrive while a commit runs are committed together. */
  async #commitAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup();
      if (group.length === 0) continue;
      try {
        if (this.#isFull || this.#bytesSinceCheck >= checkedBytes) await this.#retain();
        if (this.#isFull) throw new Error('the database has reached its size');
        const all = group.flatMap(({ batch }) => batch.events);
        const { version, changedPlanes, limitedPlanes } = await this.#options.database.append(all, this.#nowUs());
        for (const plane of limitedPlanes) this.#options.onError(limitError(plane));
        for (const { batch, resolve } of group) resolve({ stored: batch.events.length, expired: batch.expired });
        if (changedPlanes.length > 0) for (const tell of this.#listeners) tell({ version, changedPlanes });
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      await new Promise(setImmediate);
    }
  }

  /** Parses the batches of the next transaction. Waiting batches are not parsed: their objects need more memory than their bytes. */
  #nextGroup(): Parsed[] {
    const limits = { nowUs: this.#nowUs(), oldestUs: this.#oldestUs() };
    const group: Parsed[] = [];
    for (let events = 0, bytes = 0; events < groupEventsMax && bytes < groupBytesMax;) {
      const next = this.#waiting.shift();
      if (!next) break;
      const { body, source, resolve, reject } = next;
      bytes += body.length;
      this.#bytesSinceCheck += body.length;
      try {
        const batch = readBatch(body, source, this.#options.policies, limits);
        events += batch.events.length;
        group.push({ batch, resolve, reject });
      } catch (error) {
        reject(error);
      }
    }
    return group;
  }

  #nowUs = (): number => this.#options.clock.now() * 1_000;
  #oldestUs = (): number => (this.#options.clock.now() - this.#options.retentionMs) * 1_000;
}
