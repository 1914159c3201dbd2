/** The store under test, with helpers that use names instead of keys and text instead of bytes. */

import assert from 'node:assert/strict';
import { breathe, systemClock } from '@hangar/core';
import type {
  Committed,
  Entry,
  KeyRange,
  LeaseId,
  RangeOptions,
  Revision,
  Store,
  Watch,
  WatchOptions,
  Write,
} from '../contract.ts';
import { prefixRange } from '../keys.ts';
import type { OpenedStore } from './harness.ts';

/** An entry with its value as text and its key relative to the test's prefix: comparable and readable. */
export interface PlainEntry {
  name: string;
  text: string;
  createRevision: Revision;
  modRevision: Revision;
  version: number;
  lease: LeaseId | undefined;
}

export class Subject {
  store: Store;
  readonly prefix: string;
  readonly conditionsMax: number | undefined;
  readonly refusesRestored: boolean;
  readonly #opened: OpenedStore;
  readonly #watches: Watch[] = [];

  constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.store = opened.store;
    this.prefix = opened.prefix;
    this.conditionsMax = opened.conditionsMax;
    this.refusesRestored = opened.refusesRestored ?? false;
  }

  key(name: string): string {
    return this.prefix + name;
  }

  /** Every key of this test whose name begins so. */
  below(name = ''): KeyRange {
    return prefixRange(this.key(name));
  }

  write(name: string, text: string, more: { expected?: Revision; lease?: LeaseId } = {}): Write {
    return { type: 'put', key: this.key(name), value: Buffer.from(text), ...more };
  }

  deletion(name: string, more: { expected?: Revision } = {}): Write {
    return { type: 'delete', key: this.key(name), ...more };
  }

  /** A transaction that must succeed. */
  async commit(...writes: Write[]): Promise<Committed> {
    const result = await this.store.commit(writes);
    assert.ok(result.committed, 'the transaction conflicted');
    return result;
  }

  async put(name: string, text: string, more: { expected?: Revision; lease?: LeaseId } = {}): Promise<Revision> {
    return (await this.commit(this.write(name, text, more))).revision;
  }

  async remove(name: string): Promise<Revision> {
    const { deleted, revision } = await this.commit(this.deletion(name));
    assert.equal(deleted, 1, `${name} was not there`);
    return revision;
  }

  async entry(name: string, atRevision?: Revision): Promise<PlainEntry | undefined> {
    const { entry } = await this.store.get(this.key(name), atRevision === undefined ? {} : { atRevision });
    return entry && this.plain(entry);
  }

  async text(name: string, atRevision?: Revision): Promise<string | undefined> {
    return (await this.entry(name, atRevision))?.text;
  }

  /** `name=text` of everything this test stored, in order. */
  async list(options: RangeOptions = {}): Promise<string[]> {
    const { entries } = await this.store.range(this.below(), options);
    return entries.map((entry) => `${this.name(entry.key)}=${textOf(entry.value)}`);
  }

  /** Writes many keys with few transactions. */
  async populate(names: readonly string[], text: (name: string) => string = (name) => name): Promise<void> {
    for (let at = 0; at < names.length; at += 100) {
      await this.commit(...names.slice(at, at + 100).map((name) => this.write(name, text(name))));
    }
  }

  /** Closed at the end of the test at the latest. Watches the prefix of the test by default. */
  watch(options: Partial<WatchOptions> = {}): Watch {
    const watch = this.store.watch({ prefix: this.prefix, ...options });
    this.#watches.push(watch);
    return watch;
  }

  async reopen(): Promise<void> {
    this.store = await this.#opened.reopen();
  }

  end(): void {
    for (const watch of this.#watches) watch.close();
  }

  name(key: string): string {
    assert.ok(key.startsWith(this.prefix), `${key} is not below ${this.prefix}`);
    return key.slice(this.prefix.length);
  }

  plain(entry: Entry): PlainEntry {
    const { createRevision, modRevision, version, lease } = entry;
    return { name: this.name(entry.key), text: textOf(entry.value), createRevision, modRevision, version, lease };
  }
}

export function textOf(value: Uint8Array): string {
  return Buffer.from(value).toString();
}

/** Returns the error code with which `action` fails, synchronously or later. Throws if `action` succeeds. */
export async function refusal(action: () => unknown): Promise<string> {
  try {
    await action();
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, `refused with something untyped: ${String(error)}`);
    return String(error.code);
  }
  return 'not refused';
}

/**
 * Repeats `action` until `work` settles, and returns the number of rounds. Yields between rounds: a store that reads synchronously would
 * otherwise block the work.
 */
export async function during(work: Promise<unknown>, action: (round: number) => Promise<void>): Promise<number> {
  const state = { underWay: true };
  const ended = work.finally(() => (state.underWay = false));
  ended.catch(() => {}); // reported below
  let round = 0;
  for (; state.underWay; round++) {
    await action(round);
    await breathe(systemClock);
  }
  await ended;
  return round;
}

/** Runs `count` actions, `width` of them at a time. */
export async function concurrently<T>(
  count: number,
  width: number,
  action: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let index = next++; index < count; index = next++) results[index] = await action(index);
    }),
  );
  return results;
}
