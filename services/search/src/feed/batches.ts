/**
 * Collects the changes of all streams and writes them to the index in batches: one transaction for many changes, at most one batch at a
 * time. A stream that adds changes waits while too many of them wait.
 */

import type { Clock, Timer } from '@hangar/core';
import { resourceKey } from '../index-store/contract.ts';
import type { Change, ResourceName } from '../index-store/contract.ts';

export interface BatchesOptions {
  readonly clock: Clock;
  /** Writes all changes, or none. */
  readonly write: (changes: readonly Change[]) => Promise<void>;
  /** Called once, when a write failed: later changes are dropped. */
  readonly onFailed: (error: Error) => void;
}

const batchMax = 500;
const waitingMax = 2_000;
/** Time that a change waits for others. */
const delayMs = 50;

export class Batches {
  readonly #options: BatchesOptions;
  #waiting: Change[] = [];
  /** The last revision of each resource: one write for each batch. */
  readonly #progress = new Map<string, Change>();
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;
  #room = Promise.withResolvers<void>();
  #hasFailed = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Resolves when more changes can be added. Never rejects. */
  add(change: Change): Promise<void> | undefined {
    if (this.#hasFailed) return undefined;
    this.#waiting.push(change);
    this.#soon();
    return this.#waiting.length > waitingMax ? this.#room.promise : undefined;
  }

  /** Records the revision up to which all changes of the resource were added. */
  progress(resource: ResourceName, revision: string): void {
    this.#progress.set(resourceKey(resource), { type: 'progress', resource, revision });
    this.#soon();
  }

  /** Resolves when all changes that were added before are written. Never rejects. */
  async flushed(): Promise<void> {
    while (!this.#hasFailed && (this.#writing || this.#waiting.length > 0 || this.#progress.size > 0)) {
      await (this.#writing ?? this.#write());
    }
  }

  #soon(): void {
    if (this.#writing || this.#hasFailed) return;
    if (this.#waiting.length >= batchMax) void this.#write();
    else this.#timer ??= this.#options.clock.after(delayMs, () => void this.#write());
  }

  #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const changes = this.#waiting.splice(0, batchMax);
    // A revision must not be written before the changes up to it.
    if (this.#waiting.length === 0) {
      changes.push(...this.#progress.values());
      this.#progress.clear();
    }
    if (this.#waiting.length <= waitingMax) {
      this.#room.resolve();
      this.#room = Promise.withResolvers();
    }
    this.#writing = this.#options
      .write(changes)
      .catch((error: Error) => {
        this.#hasFailed = true;
        this.#waiting = [];
        this.#room.resolve();
        this.#options.onFailed(error);
      })
      .finally(() => {
        this.#writing = undefined;
        if (this.#waiting.length > 0 || this.#progress.size > 0) this.#soon();
      });
    return this.#writing;
  }
}
