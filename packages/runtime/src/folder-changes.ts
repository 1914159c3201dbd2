/** Waits for changes in folders, by file system events or by a timeout, because events can be lost. */

import { watch } from 'node:fs';
import type { Clock, Timer } from '@hangar/core';

export interface WatchedFolder {
  readonly folder: string;
  /** Called with the name of the entry. */
  readonly isRelevant: (entry: string) => boolean;
}

export interface FolderChangesOptions {
  readonly clock: Clock;
  readonly rescanMs: number;
  readonly signal: AbortSignal;
}

/** One change causes several events. Also limits how often a folder with constant changes is read. */
const settleMs = 100;

/** Waits for one change. Listens from the constructor on, so that changes while folders are read are not missed. */
export class FolderChanges {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #done = Promise.withResolvers<void>();
  readonly #watchers: { close(): void }[] = [];
  #timer: Timer;
  #hasChanged = false;
  #isOver = false;
  readonly #finish = (): void => {
    this.#isOver = true;
    this.#timer.cancel();
    this.#signal.removeEventListener('abort', this.#finish);
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    this.#done.resolve();
  };

  constructor(folders: readonly WatchedFolder[], { clock, rescanMs, signal }: FolderChangesOptions) {
    this.#clock = clock;
    this.#signal = signal;
    this.#timer = clock.after(rescanMs, this.#finish);
    signal.addEventListener('abort', this.#finish, { once: true });
    if (signal.aborted) this.#finish();
    else for (const one of folders) this.#watch(one);
  }

  /** Limits the remaining wait to this time. */
  within(waitMs: number): void {
    if (this.#hasChanged || this.#isOver) return;
    this.#timer.cancel();
    this.#timer = this.#clock.after(waitMs, this.#finish);
  }

  /** Resolves after a change, the timeout, or an abort of the signal, and releases all watches. */
  next(): Promise<void> {
    return this.#done.promise;
  }

  #watch({ folder, isRelevant }: WatchedFolder): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, entry) => {
        if (entry === null || isRelevant(entry)) this.#changed();
      });
      watcher.on('error', () => this.#changed());
      this.#watchers.push(watcher);
    } catch {
      // The folder does not exist, or the system has no more watches: the periodic scan has to suffice.
    }
  }

  #changed(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    this.#timer.cancel();
    this.#timer = this.#clock.after(settleMs, this.#finish);
  }
}
