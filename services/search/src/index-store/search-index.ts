/**
 * The index: the generation that answers searches, and the one that replaces it.
 *
 *     DIR/generation-7/index.db      answers searches
 *     DIR/generation-8/index.db      is being built; replaces 7 when it has all objects
 *
 * The directory can be deleted at any time: the open generation continues to answer from its deleted files, and a new one is built. A
 * database that fails is replaced in the same way. While no complete generation exists, searches see the incomplete one.
 */

import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, backOffMs, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { SearchError } from '../errors.ts';
import type { FeedSource } from '../feed/feed.ts';
import { Generation } from './generation.ts';

export interface SearchIndexOptions {
  readonly directory: string;
  readonly source: FeedSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const prefix = 'generation-';
const fileName = 'index.db';
const checkMs = 1_000;
const backOff = { baseMs: 1_000, maxMs: 60_000 };

export class SearchIndex {
  readonly #options: SearchIndexOptions;
  readonly #stop = new AbortController();
  #current!: Generation;
  #lastNumber = 0;
  #rebuilding: Promise<void> | undefined;
  #failures = 0;
  readonly #following: Promise<void>[] = [];

  /** Opens the newest complete generation, or starts a new one. */
  static async open(options: SearchIndexOptions): Promise<SearchIndex> {
    const index = new SearchIndex(options);
    index.#current = await index.#openNewest();
    index.#following.push(index.#followFiles());
    return index;
  }

  private constructor(options: SearchIndexOptions) {
    this.#options = options;
  }

  /** The generation that answers searches. */
  get current(): Generation {
    return this.#current;
  }

  get isRebuilding(): boolean {
    return this.#rebuilding !== undefined;
  }

  /** Builds a new generation beside the current one, which it replaces when it has all objects. Never rejects. */
  rebuild(): Promise<void> {
    this.#rebuilding ??= this.#rebuild().finally(() => (this.#rebuilding = undefined));
    return this.#rebuilding;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the index is closing'));
    await Promise.all(this.#following);
    await this.#rebuilding;
    await this.#current.close();
  }

  async #openNewest(): Promise<Generation> {
    const { directory, log } = this.#options;
    await mkdir(directory, { recursive: true });
    const numbers = (await readdir(directory))
      .filter((name) => name.startsWith(prefix))
      .map((name) => Number(name.slice(prefix.length)))
      .filter((number) => Number.isSafeInteger(number))
      .toSorted((one, other) => other - one);
    this.#lastNumber = numbers[0] ?? 0;
    for (const [at, number] of numbers.entries()) {
      try {
        const generation = await this.#open(number);
        // An incomplete one is only used if there is no other.
        if (generation.isSynced || at === numbers.length - 1) {
          await this.#deleteOthers(generation);
          return generation;
        }
        await generation.close();
      } catch (error) {
        log.warn('generation of the index cannot be used', { generation: number, error: asError(error) });
      }
    }
    const generation = await this.#create();
    await this.#deleteOthers(generation);
    return generation;
  }

  async #create(): Promise<Generation> {
    const number = ++this.#lastNumber;
    await mkdir(this.#directoryOf(number), { recursive: true, mode: 0o700 });
    return this.#open(number);
  }

  #open(number: number): Promise<Generation> {
    const { source, clock, random, log } = this.#options;
    const id = String(number);
    return Generation.open({
      id,
      file: join(this.#directoryOf(number), fileName),
      source,
      clock,
      random,
      log,
      onFailed: (error) => {
        log.error('the database of the index failed, rebuilding', { generation: id, error });
        void this.rebuild();
      },
    });
  }

  async #rebuild(): Promise<void> {
    const { clock, random, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let next: Generation | undefined;
      try {
        next = await this.#create();
        await Promise.race([next.synced, aborted(signal)]);
        if (signal.aborted || !next.isSynced) throw new SearchError('IndexClosed', 'the index is closing');
        const last = this.#current;
        this.#current = next;
        this.#failures = 0;
        await last.close();
        await this.#deleteOthers(next);
        return;
      } catch (error) {
        await next?.close();
        if (signal.aborted) return;
        log.error('rebuild of the index failed, retrying', { error: asError(error) });
        await sleep(clock, backOffMs(backOff, ++this.#failures, random), signal).catch(() => undefined);
      }
    }
  }

  async #deleteOthers({ id }: Generation): Promise<void> {
    const { directory } = this.#options;
    for (const name of await readdir(directory).catch(() => [])) {
      if (name.startsWith(prefix) && name !== `${prefix}${id}`) {
        await rm(join(directory, name), { recursive: true, force: true });
      }
    }
  }

  /** Starts a rebuild when the file of the current generation was deleted or replaced. */
  async #followFiles(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    let followed: { readonly file: string; readonly inode: number | undefined } | undefined;
    while (!signal.aborted) {
      const { file } = this.#current;
      const inode = await inodeOf(file);
      if (followed?.file !== file) followed = { file, inode };
      if ((inode === undefined || inode !== followed.inode) && !this.#rebuilding) {
        this.#options.log.warn('the directory of the index was deleted, rebuilding', { file });
        void this.rebuild();
      }
      await sleep(clock, checkMs, signal).catch(() => undefined);
    }
  }

  #directoryOf(number: number): string {
    return join(this.#options.directory, `${prefix}${number}`);
  }
}

async function inodeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).ino;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
