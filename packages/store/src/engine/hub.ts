/**
 * The watch hub: one stream of committed revisions in, any number of watches out.
 *
 * A watch is **live** (the hub hands it each batch as it is published) or **behind** (it reads the history, page by page, until it has
 * caught up with the hub, and joins it in the same synchronous step, so that no revision falls between). A live watch whose buffer is full
 * becomes one that is behind: slow consumers cost reads, never memory. So does one if a revision has more events than `batchLengthMax`,
 * such as the deletion of a whole range: the history is read in slices, so that the commit does not block the event loop. The watch still
 * gets the revision as one batch. Watches of one prefix share that read.
 *
 * Watches of the same prefix share one batch object, and a key is matched against the few lengths of prefix in use, so publishing does not
 * grow with the number of unrelated watches.
 */

import { assert } from '@hangar/core';
import type { Revision, StoreEvent, Watch, WatchBatch, WatchOptions } from '../contract.ts';
import { closed, CompactedError } from '../errors.ts';

export interface HistoryPage {
  readonly batches: readonly WatchBatch[];
  /** The first revision that the page does not cover. */
  readonly next: Revision;
}

/** Source of the history for watches that are behind. */
export interface HistorySource {
  compactedRevision(): Revision;
  /** Returns batches with `from ≤ revision ≤ to` in order. May cover less than requested, but never nothing. Rejects with `Compacted`. */
  read(options: Required<WatchOptions> & { to: Revision }): Promise<HistoryPage>;
  /** Resolves when everything acknowledged before the call has been published. */
  published(): Promise<void>;
}

/** A committed revision. Its events are created only if they are watched. */
export interface Publication {
  readonly revision: Revision;
  readonly keys: readonly string[];
  event(index: number, previous: boolean): StoreEvent;
}

export interface WatchHubOptions {
  history: HistorySource;
  revision: Revision;
  queueLengthMax?: number;
  /** Larger batches are read from the history. Absent: none. */
  batchLengthMax?: number;
}

export class WatchHub {
  readonly history: HistorySource;
  readonly queueLengthMax: number;
  readonly #batchLengthMax: number;
  #revision: Revision;
  /** Live watches by prefix length, then prefix. */
  readonly #groups = new Map<number, Map<string, WatchGroup>>();
  readonly #watches = new Set<HubWatch>();
  readonly #largeReads = new Set<Promise<void>>();
  /** Callers that wait for a revision to be published. */
  #expecting: { revision: Revision; resolve(): void; reject(error: Error): void }[] = [];
  #closed: Error | undefined;

  constructor(options: WatchHubOptions) {
    this.history = options.history;
    this.queueLengthMax = options.queueLengthMax ?? 1024;
    this.#batchLengthMax = options.batchLengthMax ?? Infinity;
    this.#revision = options.revision;
  }

  /** Everything up to here has been published. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Revisions must come in order. Synchronous: on return, every live watch has the batch or is behind. */
  publish(publication: Publication): void {
    this.#revision = publication.revision;
    if (this.#groups.size > 0) this.#deliver(publication);
    this.#answerExpecting();
  }

  #deliver(publication: Publication): void {
    const runs = publication.keys.length > manyKeys ? sortedRuns(publication.keys) : undefined;
    if (runs && runs.length <= runsMax) return this.#deliverMany(publication, runs);
    const matches = new Map<WatchGroup, number[]>();
    publication.keys.forEach((key, index) => {
      for (const [length, byPrefix] of this.#groups) {
        const group = key.length >= length ? byPrefix.get(key.slice(0, length)) : undefined;
        if (!group) continue;
        const indexes = matches.get(group);
        if (indexes) indexes.push(index);
        else matches.set(group, [index]);
      }
    });
    for (const [group, indexes] of matches) this.#offer(group, publication, indexes);
  }

  #offer(group: WatchGroup, publication: Publication, indexes: readonly number[]): void {
    if (indexes.length <= this.#batchLengthMax) return group.publish(publication, indexes);
    for (const read of group.fallBehind(publication.revision, this.history)) {
      this.#largeReads.add(read);
      void read.then(() => this.#largeReads.delete(read));
    }
  }

  /** Resolves when no watch is reading a batch that was too large to be delivered: until then it needs the history. */
  async largeBatchesRead(): Promise<void> {
    await Promise.all(this.#largeReads);
  }

  /** Delivers the deletion of a whole range: searches each prefix among the keys, instead of each key among the prefixes. */
  #deliverMany(publication: Publication, runs: readonly Run[]): void {
    for (const byPrefix of this.#groups.values()) {
      for (const [prefix, group] of byPrefix) {
        const indexes = this.#indexesOf(publication.keys, runs, prefix);
        if (indexes.length > 0) this.#offer(group, publication, indexes);
      }
    }
  }

  /** Returns the indexes of the keys with this prefix. Stops at one more than a batch may have. */
  #indexesOf(keys: readonly string[], runs: readonly Run[], prefix: string): number[] {
    const indexes: number[] = [];
    for (const run of runs) {
      for (let at = firstFrom(keys, run, prefix); at < run.end && keys[at]!.startsWith(prefix); at++) {
        indexes.push(at);
        if (indexes.length > this.#batchLengthMax) return indexes;
      }
    }
    return indexes;
  }

  /** Records that no prefix changed up to this revision, so that watches can mark progress. */
  advance(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#answerExpecting();
  }

  /** Resolves when everything up to `revision` has been published; rejects when the hub closes before. */
  reached(revision: Revision): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve();
    if (this.#closed) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => this.#expecting.push({ revision, resolve, reject }));
  }

  #answerExpecting(): void {
    if (this.#expecting.length === 0) return;
    const answered = this.#expecting.filter((expecting) => expecting.revision <= this.#revision);
    this.#expecting = this.#expecting.filter((expecting) => expecting.revision > this.#revision);
    for (const expecting of answered) expecting.resolve();
  }

  watch(options: WatchOptions): Watch {
    const from = options.fromRevision ?? this.#revision + 1;
    const watch = new HubWatch(this, {
      prefix: options.prefix,
      fromRevision: Math.max(from, 1) as Revision, // nothing ever happened at revision 0
      previous: options.previous ?? false,
    });
    if (this.#closed) watch.fail(this.#closed);
    else this.#watches.add(watch);
    return watch;
  }

  /** Closes every watch with the error: `Closed`, or the error of the stream behind the hub. */
  close(error: Error = closed()): void {
    this.#closed = error;
    for (const watch of this.#watches) watch.fail(error);
    for (const expecting of this.#expecting.splice(0)) expecting.reject(error);
  }

  /** Called by the watch. */
  join(watch: HubWatch): void {
    const { prefix } = watch.options;
    let byPrefix = this.#groups.get(prefix.length);
    if (!byPrefix) this.#groups.set(prefix.length, (byPrefix = new Map()));
    let group = byPrefix.get(prefix);
    if (!group) byPrefix.set(prefix, (group = new WatchGroup()));
    group.members.add(watch);
  }

  /** Called by the watch. */
  leave(watch: HubWatch, forGood: boolean): void {
    if (forGood) this.#watches.delete(watch);
    const { prefix } = watch.options;
    const byPrefix = this.#groups.get(prefix.length);
    const group = byPrefix?.get(prefix);
    if (!byPrefix || !group) return;
    group.members.delete(watch);
    if (group.members.size === 0) byPrefix.delete(prefix);
    if (byPrefix.size === 0) this.#groups.delete(prefix.length);
  }
}

/** Number of keys from which searching the prefixes among them is faster. */
const manyKeys = 100;
/** A transaction that deletes a range touches few other keys. */
const runsMax = 16;

/** Neighbouring keys that are sorted. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** Sorted by UTF-16 code units, which the engine compares fastest: the order only has to be the same in `firstFrom`. */
function sortedRuns(keys: readonly string[]): Run[] {
  const runs: Run[] = [];
  let start = 0;
  for (let at = 1; at <= keys.length; at++) {
    if (at < keys.length && keys[at - 1]! <= keys[at]!) continue;
    runs.push({ start, end: at });
    start = at;
  }
  return runs;
}

/** Returns the index of the first key of a run that is not before this one. */
function firstFrom(keys: readonly string[], { start, end }: Run, key: string): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The live watches of one prefix. */
class WatchGroup {
  readonly members = new Set<HubWatch>();

  /** Makes every watch read this revision from the history, all of them from the same pages. Returns their reads. */
  fallBehind(revision: Revision, history: HistorySource): Promise<void>[] {
    const pages = new Map<boolean, Promise<HistoryPage>>();
    const read: ReadPage = (options) => {
      let page = pages.get(options.previous);
      if (!page) pages.set(options.previous, (page = history.read(options)));
      return page;
    };
    return Array.from(this.members, (watch) => watch.fallBehind(revision, read)).filter((one) => one !== undefined);
  }

  publish(publication: Publication, indexes: readonly number[]): void {
    let plain: WatchBatch | undefined;
    let withPrevious: WatchBatch | undefined;
    const batch = (previous: boolean): WatchBatch => ({
      revision: publication.revision,
      events: indexes.map((index) => publication.event(index, previous)),
    });
    for (const watch of this.members) {
      try {
        if (watch.options.previous) watch.offer((withPrevious ??= batch(true)));
        else watch.offer((plain ??= batch(false)));
      } catch (error) {
        // If the disk fails to return a previous value, the watch fails, not the commit.
        watch.fail(error as Error);
      }
    }
  }
}

type ReadPage = HistorySource['read'];

interface Waiting {
  resolve(batch: WatchBatch | undefined): void;
  reject(error: Error): void;
}

class HubWatch implements Watch {
  readonly options: Required<WatchOptions>;
  readonly #hub: WatchHub;
  readonly #queue: WatchBatch[] = [];
  /** The first revision that was neither delivered nor queued yet. */
  #next: Revision;
  #live = false;
  #progressAsked = false;
  #progressAskAgain = false;
  #progressDue = false;
  #waiting: Waiting | undefined;
  #catchingUp: Promise<void> | undefined;
  #ended: { error?: Error } | undefined;

  constructor(hub: WatchHub, options: Required<WatchOptions>) {
    this.#hub = hub;
    this.options = options;
    this.#next = options.fromRevision;
    this.#joinWhenCaughtUp();
  }

  /** Called by the hub, in order. */
  offer(batch: WatchBatch): void {
    if (batch.revision < this.#next) return;
    if (this.#waiting) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      this.#next = (batch.revision + 1) as Revision;
      waiting.resolve(batch);
    } else if (this.#queue.length < this.#hub.queueLengthMax) {
      this.#next = (batch.revision + 1) as Revision;
      this.#queue.push(batch);
    } else {
      this.#next = this.#queue[0]!.revision;
      this.#queue.length = 0;
      this.#live = false;
      this.#hub.leave(this, false);
    }
  }

  /**
   * Called by the hub instead of delivering a batch: the watch reads this batch and later ones from the history. The read starts at once,
   * because a consumer that keeps up must not lose the batch to a compaction. `read` reads its first page. Resolves when the
   * batch is read.
   */
  fallBehind(revision: Revision, read: ReadPage): Promise<void> | undefined {
    if (revision < this.#next) return undefined;
    // Everything before was delivered or is queued.
    this.#next = revision;
    this.#live = false;
    this.#hub.leave(this, false);
    const caughtUp = this.#catchUp(read);
    const waiting = this.#waiting;
    if (waiting) {
      this.#waiting = undefined;
      this.next().then(waiting.resolve, waiting.reject);
    }
    return caughtUp;
  }

  async next(): Promise<WatchBatch | undefined> {
    assert(!this.#waiting, 'a watch has one consumer, and the consumer may wait for only one batch at a time');
    for (;;) {
      if (this.#ended) {
        if (this.#ended.error) throw this.#ended.error;
        return undefined;
      }
      const queued = this.#queue.shift();
      if (queued) return queued;
      if (!this.#live) {
        await this.#catchUp();
        continue;
      }
      if (this.#progressDue) return this.#mark();
      return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    }
  }

  requestProgress(): void {
    if (this.#ended) return;
    // The pending request may cover less than this call needs: repeat it afterwards.
    if (this.#progressAsked) {
      this.#progressAskAgain = true;
      return;
    }
    this.#progressAsked = true;
    this.#hub.history.published().then(
      () => this.#progressAnswered(true),
      // The stream behind the hub broke: the watch receives the error separately; only the mark is missing.
      () => this.#progressAnswered(false),
    );
  }

  #progressAnswered(published: boolean): void {
    this.#progressAsked = false;
    if (this.#ended) return;
    if (this.#progressAskAgain) {
      this.#progressAskAgain = false;
      this.requestProgress();
    }
    if (!published) return;
    this.#progressDue = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(this.#mark());
  }

  close(): void {
    this.#end({});
  }

  fail(error: Error): void {
    this.#end({ error });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }

  /** Only when live with an empty queue: everything up to the hub's revision was delivered. */
  #mark(): WatchBatch {
    this.#progressDue = false;
    return { revision: this.#hub.revision, events: [] };
  }

  #joinWhenCaughtUp(): boolean {
    if (this.#next <= this.#hub.revision || this.#ended) return false;
    this.#live = true;
    this.#hub.join(this);
    return true;
  }

  /** One read at a time. Never rejects. */
  #catchUp(read?: ReadPage): Promise<void> {
    return (this.#catchingUp ??= this.#readOn(read).finally(() => (this.#catchingUp = undefined)));
  }

  async #readOn(read: ReadPage = (options) => this.#hub.history.read(options)): Promise<void> {
    if (this.#joinWhenCaughtUp()) return;
    try {
      const { history } = this.#hub;
      // A revision is readable unless it is older than the compaction; its events require the revisions after it.
      if (this.#next <= history.compactedRevision()) throw new CompactedError(this.#next, history.compactedRevision());
      const page = await read({ ...this.options, fromRevision: this.#next, to: this.#hub.revision });
      if (this.#ended) return;
      this.#queue.push(...page.batches);
      this.#next = page.next;
      this.#joinWhenCaughtUp();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #end(how: { error?: Error }): void {
    if (this.#ended) return;
    this.#ended = how;
    this.#queue.length = 0;
    this.#hub.leave(this, true);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (how.error) waiting?.reject(how.error);
    else waiting?.resolve(undefined);
  }
}
