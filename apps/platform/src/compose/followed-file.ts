/**
 * Follows files that may change under a running server: certificates, keys, policies. Polls instead of watching, because mounts of a
 * container change by links that no watch sees. An unusable content is logged, and the last good one stays.
 */

import { readFile } from 'node:fs/promises';
import type { Clock, Logger } from '@hangar/core';

export interface FollowedFilesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly periodMs?: number;
}

const defaultPeriodMs = 10_000;

export class FollowedFiles {
  readonly #options: FollowedFilesOptions;
  readonly #followed: (() => Promise<void>)[] = [];
  #timer: { cancel(): void } | undefined;
  #isClosed = false;

  constructor(options: FollowedFilesOptions) {
    this.#options = options;
  }

  /** Calls `use` with the contents of all files when one of them has changed; it throws when it cannot use them. */
  follow(paths: readonly string[], known: readonly string[], use: (contents: readonly string[]) => void): void {
    let last = known;
    this.#followed.push(async () => {
      const { log } = this.#options;
      try {
        const contents = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
        if (contents.every((content, place) => content === last[place])) return;
        // Also when it is unusable: logged once, not at every poll.
        last = contents;
        use(contents);
        log.info('reloaded changed files', { paths });
      } catch (error) {
        log.error('failed to reload changed files: the previous content stays in use', { paths, error });
      }
    });
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { clock, periodMs = defaultPeriodMs } = this.#options;
    this.#timer ??= clock.after(periodMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    for (const one of this.#followed) await one();
    this.#timer = undefined;
    this.#schedule();
  }
}
