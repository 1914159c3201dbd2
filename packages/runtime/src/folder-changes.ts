/** That something in some folders changed, by the system's events; or that it is time to look again, because events can be lost. */

import { watch } from 'node:fs';
import type { Clock, Timer } from '@hangar/core';

export interface WatchedFolder {
  readonly folder: string;
  /** By the entry's name. */
  readonly isRelevant: (entry: string) => boolean;
}

export interface FolderChangesOptions {
  readonly clock: Clock;
  readonly rescanMs: number;
  readonly signal: AbortSignal;
}

/** One change is several events. Also how often a folder that never rests is read at most. */
const settleMs = 100;

/** For one change. Begins to listen at once, so that what changes while folders are read is not missed. */
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

  /** Nor does it wait longer than this from now on. */
  within(waitMs: number): void {
    if (this.#hasChanged || this.#isOver) return;
    this.#timer.cancel();
    this.#timer = this.#clock.after(waitMs, this.#finish);
  }

  /** Resolves when there was a change, it is time, or the signal fired. Nothing is left then. */
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
      // It is not there, or the system has no more watches: looking again now and then has to do.
    }
  }

  #changed(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    this.#timer.cancel();
    this.#timer = this.#clock.after(settleMs, this.#finish);
  }
}
