/**
 * Reads. All of them are linearizable: etcd confirms with its quorum first. A long range is read in pages at the revision of the first one,
 * sized so that a page is some megabytes; a page that exceeds the message limit is requested again in smaller parts.
 */

import type { Clock } from '@hangar/core';
import type {
  Entry,
  GetResult,
  KeyRange,
  RangeOptions,
  RangeResult,
  RangeStatistics,
  ReadOptions,
  Revision,
} from '../../contract.ts';
import { CompactedError, futureRevision } from '../../errors.ts';
import type { StoreError } from '../../errors.ts';
import type { Client } from './client.ts';
import { findCompactedRevision } from './history-reader.ts';
import { decodeHeader } from './messages/header.ts';
import { decodeRange, encodeGet, encodeRange, encodeRevisionProbe, methods, successorOf } from './messages/kv.ts';
import type { RangeResponse } from './messages/kv.ts';
import type { Revisions } from './revisions.ts';
import type { Scope } from './scope.ts';
import { isAnswerTooLarge } from './verdict.ts';

export interface ReaderOptions {
  client: Client;
  clock: Clock;
  scope: Scope;
  revisions: Revisions;
}

const firstPageLength = 256;
/** etcd walks its whole index of the range for every page, so pages should not be small. */
const pageLengthMax = 10_000;
const pageBytesWanted = 4 * 1024 * 1024;
const entryOverheadBytes = 64;

export class Reader {
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async revision(): Promise<Revision> {
    const frame = encodeRevisionProbe(this.#options.scope.prefix);
    return this.#call(frame, decodeHeader);
  }

  /** Returns true if etcd has compacted this revision away. */
  async isCompacted(revision: Revision): Promise<boolean> {
    try {
      await this.#call(encodeGet(`${this.#options.scope.prefix}\u0000`, revision), decodeRange);
      return false;
    } catch (error) {
      if ((error as StoreError).code === 'Compacted') return true;
      throw error;
    }
  }

  async get(key: string, { atRevision }: ReadOptions): Promise<GetResult> {
    if (atRevision === 0) return { entry: undefined, revision: await this.#beforeEverything() };
    const frame = encodeGet(key, atRevision ?? current);
    const { entries, revision } = await this.#read(frame, atRevision);
    return { entry: entries[0], revision: atRevision ?? revision };
  }

  async range(range: KeyRange, options: RangeOptions): Promise<RangeResult> {
    const { limit = 0, keysOnly = false } = options;
    const entries: Entry[] = [];
    const { revision, more } = await this.#pages(range, { ...options, limit, keysOnly }, (page) => {
      for (const entry of page) entries.push(entry);
    });
    return { entries, revision, more };
  }

  async statistics(range: KeyRange, options: ReadOptions): Promise<RangeStatistics> {
    let keys = 0;
    let bytes = 0;
    const { revision } = await this.#pages(range, { ...options, limit: 0, keysOnly: false }, (page) => {
      keys += page.length;
      for (const entry of page) bytes += Buffer.byteLength(entry.key) + entry.value.length;
    });
    return { keys, bytes, revision };
  }

  async #pages(
    wanted: KeyRange,
    options: RangeOptions & { limit: number; keysOnly: boolean },
    onPage: (entries: readonly Entry[]) => void,
  ): Promise<{ revision: Revision; more: boolean }> {
    const { limit, keysOnly, atRevision } = options;
    const range = this.#options.scope.cut(wanted);
    if (atRevision === 0) return { revision: await this.#beforeEverything(), more: false };
    if (!range) return { revision: await this.#checkReadable(atRevision), more: false };
    let start: string | Uint8Array = range.start;
    let revision = atRevision ?? current;
    let left = limit || Infinity;
    let length = keysOnly ? pageLengthMax : firstPageLength;
    for (;;) {
      const pageLength = Math.min(left, length);
      const frame = encodeRange({ start, end: range.end, limit: pageLength, revision, keysOnly });
      let page: RangeResponse;
      try {
        page = await this.#read(frame, revision);
      } catch (error) {
        if (!isAnswerTooLarge(error) || pageLength === 1) throw error;
        length = Math.ceil(pageLength / 4);
        continue;
      }
      if (revision === current) revision = page.revision;
      onPage(page.entries);
      left -= page.entries.length;
      if (!page.more || left <= 0) return { revision, more: page.more };
      start = successorOf(page.lastKey);
      length = nextPageLength(page.entries);
    }
  }

  /** Returns the read revision of an empty read, or the error that a non-empty read would have returned. */
  async #checkReadable(atRevision: Revision | undefined): Promise<Revision> {
    const frame = encodeGet(`${this.#options.scope.prefix}\u0000`, atRevision ?? current);
    const { revision } = await this.#read(frame, atRevision);
    return atRevision ?? revision;
  }

  /** etcd takes 0 for "now". */
  async #beforeEverything(): Promise<Revision> {
    await this.#checkReadable(1 as Revision);
    return 0 as Revision;
  }

  async #read(frame: Buffer, atRevision: Revision | undefined): Promise<RangeResponse> {
    try {
      return await this.#call(frame, decodeRange);
    } catch (error) {
      const { code } = error as StoreError;
      if (code === 'Compacted') throw await this.#compacted(atRevision ?? current);
      if (code === 'FutureRevision') throw futureRevision(atRevision ?? current, await this.revision());
      throw error;
    }
  }

  /** etcd's refusal does not include the start of its history: finding it takes a watch. */
  async #compacted(asked: Revision): Promise<CompactedError> {
    const { client, clock, scope, revisions } = this.#options;
    if (revisions.compacted <= asked) {
      const key = `${scope.prefix}\u0000`;
      const found = await findCompactedRevision(client, clock, { asked, range: { start: key, end: `${key}\u0000` } });
      revisions.sawCompacted(found ?? ((asked + 1) as Revision));
    }
    return new CompactedError(asked, revisions.compacted);
  }

  async #call<T extends Revision | { revision: Revision }>(frame: Buffer, decode: (answer: Buffer) => T): Promise<T> {
    const answer = await this.#options.client.call({ method: methods.range, frame, decode, repeatable: true });
    this.#options.revisions.saw(typeof answer === 'object' ? answer.revision : answer);
    return answer;
  }
}

/** Revision 0 means "now" in an etcd read. */
const current = 0 as Revision;

/** Derived from the size of the last page; grows slowly, because the next entries may be larger. */
function nextPageLength(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.key.length + entry.value.length + entryOverheadBytes;
  const fitting = Math.floor((pageBytesWanted * entries.length) / bytes);
  return Math.max(1, Math.min(fitting, entries.length * 8, pageLengthMax));
}
