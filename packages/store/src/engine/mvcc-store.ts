/**
 * The MVCC engine: the whole contract on top of tables that can be read now (`TableReader`) and changed by groups
 * (`commit`). The memory and embedded drivers are this class with different tables under it.
 */

import { breathe, detachedClock } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type {
  CommitResult,
  Entry,
  GetResult,
  HistoryHold,
  KeyRange,
  Lease,
  LeaseId,
  RangeOptions,
  RangeResult,
  RangeStatistics,
  ReadOptions,
  Revision,
  Store,
  StoreEvent,
  Watch,
  WatchBatch,
  WatchOptions,
  Write,
} from '../contract.ts';
import { closed, CompactedError, futureRevision, StoreError } from '../errors.ts';
import { checkKey, checkRange, everything, prefixRange, successor } from '../keys.ts';
import { checkLeaseId, checkLimit, checkRevision, checkTransaction, checkTtl } from '../limits.ts';
import type { Change, Command, Outcome } from './command.ts';
import { GroupCommit } from './group-commit.ts';
import type { GroupCommitOptions } from './group-commit.ts';
import { findGaps, HistoryWindow } from './history-window.ts';
import type { HistoryPolicy } from './history-window.ts';
import { WatchHub } from './hub.ts';
import type { HistoryPage } from './hub.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { RecentEntries } from './recent-entries.ts';
import { entryOf } from './rows.ts';
import type { Row } from './rows.ts';
import type { TableReader } from './tables.ts';

/** Long work is done in steps of this size, yielding between them. A simulation uses smaller steps. */
export interface StepLengths {
  /** Entries of a range read at once. */
  range: number;
  /** Rows of the history read at once. */
  history: number;
  /** Previous values read at once, each of which is a separate read. */
  previous: number;
  /** Events of one revision delivered to a watch at once. More are read from the history. */
  batch: number;
  /** Rows removed at once. */
  obsolete: number;
}

/** A step of the history takes about half a millisecond. */
const defaultSteps: StepLengths = { range: 2_000, history: 100, previous: 64, batch: 256, obsolete: 500 };

export interface MvccStoreOptions {
  clock: Clock;
  random: Random;
  reader: TableReader;
  commit: GroupCommitOptions['commit'];
  history: HistoryPolicy;
  watchQueueLengthMax?: number;
  /** Size of the cache of recently used entries. */
  recentBytesMax?: number;
  steps?: StepLengths;
  /** Releases the driver's resources, after the last commit. */
  release(): Promise<void>;
}

const defaultRecentBytesMax = 32 * 1024 * 1024;

export class MvccStore implements Store {
  readonly #options: MvccStoreOptions;
  readonly #steps: StepLengths;
  readonly #reader: TableReader;
  readonly #commits: GroupCommit;
  readonly #hub: WatchHub;
  readonly #recent: RecentEntries;
  readonly #leases: LeaseKeeper;
  readonly #window: HistoryWindow;
  /** The first revision that the last published commit did not use; undefined before the first commit. */
  #unused: Revision | undefined;
  /** Set before the tables remove history, so that no read begins in the part that is removed. */
  #compacted: Revision;
  /** Settles when the compaction in progress has succeeded or failed. */
  #compacting: Promise<void> | undefined;
  #removing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: MvccStoreOptions) {
    const { reader } = options;
    // Commits, leases and compaction serve all tenants, not the one whose commit set the timer.
    const clock = detachedClock(options.clock);
    this.#options = options;
    this.#steps = options.steps ?? defaultSteps;
    this.#reader = reader;
    this.#compacted = reader.compactedRevision();
    const revision = reader.revision();
    this.#recent = new RecentEntries(options.recentBytesMax ?? defaultRecentBytesMax, revision);
    this.#commits = new GroupCommit({
      clock,
      commit: (group) => this.#commitGroup(group),
      onOutcome: (command, outcome) => this.#publish(command, outcome),
    });
    this.#hub = new WatchHub({
      revision,
      history: {
        compactedRevision: () => this.#compacted,
        read: (span) => this.#readHistory(span),
        published: () => this.#hub.reached(this.#readRevision()),
      },
      batchLengthMax: this.#steps.batch,
      ...(options.watchQueueLengthMax !== undefined && { queueLengthMax: options.watchQueueLengthMax }),
    });
    this.#leases = new LeaseKeeper(clock, (id) => this.revokeLease(id));
    for (const lease of reader.leases()) this.#leases.keep(lease);
    this.#window = new HistoryWindow({
      clock,
      policy: options.history,
      compact: (to) => this.#compactQuietly(to),
      gaps: findGaps({ compacted: this.#compacted, newest: revision }, options.history, (from) =>
        firstRevisionFrom(reader, from, revision),
      ),
    });
    void this.#removeObsolete(); // left by a crash
  }

  async revision(): Promise<Revision> {
    this.#refuseWhenClosed();
    return this.#recent.revision;
  }

  async get(key: string, options: ReadOptions = {}): Promise<GetResult> {
    this.#refuseWhenClosed();
    checkKey(key);
    const { atRevision } = options;
    if (atRevision !== undefined) {
      this.#checkReadable(atRevision);
      return { entry: this.#reader.get(key, atRevision).entry, revision: atRevision };
    }
    const recent = this.#recent.get(key);
    if (recent) return { entry: recent, revision: this.#recent.revision };
    const found = this.#reader.get(key, undefined);
    this.#recent.saw(found.revision, found.entry);
    return found;
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#refuseWhenClosed();
    checkRange(range);
    if (options.limit !== undefined) checkLimit(options.limit);
    if (options.atRevision !== undefined) this.#checkReadable(options.atRevision);
    const limit = options.limit || Infinity;
    const entries: Entry[] = [];
    let at = options.atRevision;
    for (let start = range.start; ; start = successor(entries.at(-1)!.key)) {
      const wanted = Math.min(limit - entries.length + 1, this.#steps.range);
      const page = this.#reader.range({ ...range, start }, { at, limit: wanted, keysOnly: options.keysOnly ?? false });
      if (at === undefined) this.#recent.saw(page.revision);
      const revision = (at ??= page.revision);
      for (const entry of page.entries) entries.push(entry);
      if (entries.length > limit) return { entries: entries.slice(0, limit), revision, more: true };
      if (page.entries.length < wanted) return { entries, revision, more: false };
      await breathe(this.#options.clock);
      this.#refuseWhenClosed();
      if (at >= this.#compacted) continue;
      if (options.atRevision !== undefined) throw new CompactedError(at, this.#compacted);
      return this.#rangeInOneGo(range, options);
    }
  }

  /** For a list of the current state whose revision was compacted between two pages: reads everything in one synchronous step. */
  #rangeInOneGo(range: KeyRange, { limit = 0, keysOnly = false }: RangeOptions): RangeResult {
    const wanted = limit > 0 ? limit + 1 : Number.MAX_SAFE_INTEGER;
    const { entries, revision } = this.#reader.range(range, { at: undefined, limit: wanted, keysOnly });
    this.#recent.saw(revision);
    const more = entries.length === wanted;
    return { entries: more ? entries.slice(0, limit) : entries, revision, more };
  }

  async statistics(range: KeyRange, options: ReadOptions = {}): Promise<RangeStatistics> {
    this.#refuseWhenClosed();
    checkRange(range);
    if (options.atRevision !== undefined) this.#checkReadable(options.atRevision);
    const statistics = this.#reader.statistics(range, options.atRevision);
    if (options.atRevision === undefined) this.#recent.saw(statistics.revision);
    return { ...statistics, revision: options.atRevision ?? statistics.revision };
  }

  async commit(writes: readonly Write[]): Promise<CommitResult> {
    this.#refuseWhenClosed();
    checkTransaction(writes);
    return (await this.#submit({ type: 'transaction', writes })).result;
  }

  watch(options: WatchOptions): Watch {
    if (options.prefix !== '') checkKey(options.prefix);
    if (options.fromRevision !== undefined) checkRevision(options.fromRevision);
    // Durable rows can be read before they are published: "from now" begins after the readable ones.
    if (options.fromRevision !== undefined || this.#closing) return this.#hub.watch(options);
    return this.#hub.watch({ ...options, fromRevision: (this.#readRevision() + 1) as Revision });
  }

  holdHistory(hold: HistoryHold): void {
    this.#window.hold(hold);
  }

  async compact(revision: Revision): Promise<void> {
    this.#refuseWhenClosed();
    checkRevision(revision);
    const current = this.#readRevision();
    if (revision > current) throw futureRevision(revision, current);
    // Published, not only durable: an event needs its previous value until it is delivered.
    await this.#hub.reached(revision);
    await this.#hub.largeBatchesRead();
    // One at a time: "already compacted" must not rely on a compaction that may still fail.
    while (this.#compacting) await this.#compacting;
    this.#refuseWhenClosed();
    if (revision <= this.#compacted) return;
    const before = this.#compacted;
    this.#compacted = revision;
    const submitted = this.#submit({ type: 'compact', revision });
    this.#compacting = submitted.then(
      () => {},
      () => {},
    );
    try {
      await submitted;
    } catch (error) {
      this.#compacted = before;
      throw error;
    } finally {
      this.#compacting = undefined;
    }
    await this.#removeObsolete();
  }

  async grantLease(ttlMs: number): Promise<Lease> {
    this.#refuseWhenClosed();
    checkTtl(ttlMs);
    const lease: Lease = { id: Buffer.from(this.#options.random.bytes(7)).toString('hex') as LeaseId, ttlMs };
    await this.#submit({ type: 'grantLease', lease });
    this.#leases.keep(lease);
    return lease;
  }

  async renewLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    checkLeaseId(id);
    this.#leases.renew(id);
  }

  async leaseTtlMs(id: LeaseId): Promise<number> {
    this.#refuseWhenClosed();
    checkLeaseId(id);
    return this.#leases.remainingMs(id);
  }

  async revokeLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    checkLeaseId(id);
    await this.#submit({ type: 'revokeLease', id });
    this.#leases.forget(id);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#window.stop();
    this.#leases.stop();
    await this.#commits.idle();
    this.#hub.close();
    await this.#options.release();
  }

  async #submit(command: Command): Promise<Extract<Outcome, { result: unknown }>> {
    const outcome = await this.#commits.submit(command);
    if ('error' in outcome) throw new StoreError(outcome.error.code, outcome.error.message);
    return outcome;
  }

  async #commitGroup(group: readonly Command[]): Promise<readonly Outcome[]> {
    try {
      return await this.#options.commit(group);
    } catch (error) {
      // Some of it may have happened: only the tables have the real state.
      this.#recent.clear();
      throw error;
    }
  }

  #publish(command: Command, outcome: Outcome): void {
    if ('error' in outcome || outcome.changes.length === 0) return;
    const { result, changes } = outcome;
    const { revision } = result;
    const writes = command.type === 'transaction' ? command.writes : [];
    const isLarge = command.type === 'transaction' && changes.length > this.#steps.batch;
    const keys: string[] = [];
    const entries: (Entry | undefined)[] = [];
    let bytes = 0;
    for (const change of changes) {
      const entry = change.write < 0 ? undefined : writtenEntry(revision, change, writes);
      keys.push(change.key);
      entries.push(entry);
      bytes += change.key.length + (entry?.value.length ?? 0);
      if (entry || !isLarge) this.#recent.changed(change.key, entry, revision);
    }
    if (isLarge) this.#forgetDeleted(writes, revision);
    this.#recent.published(revision);
    this.#hub.publish({
      revision,
      keys,
      event: (index, previous) => this.#event(changes[index]!, entries[index], previous),
    });
    this.#window.advanced(revision, { skipped: this.#unused === undefined ? 0 : revision - this.#unused, bytes });
    this.#unused = (revision + changes.length) as Revision;
  }

  /** Forgets the deleted entries of a transaction with many changes: by ranges, because a key each would block the event loop. */
  #forgetDeleted(writes: readonly Write[], revision: Revision): void {
    for (const write of writes) {
      if (write.type === 'delete') this.#recent.changed(write.key, undefined, revision);
      else if (write.type === 'deleteRange') void this.#inSlices(this.#recent.rangeDeleted(write.range, revision));
    }
  }

  async #inSlices(work: Iterable<void>): Promise<void> {
    for (const _ of work) await breathe(this.#options.clock);
  }

  #event({ key, previousId }: Change, entry: Entry | undefined, withPrevious: boolean): StoreEvent {
    const previous = withPrevious && previousId > 0 ? this.#reader.entryById(previousId) : undefined;
    if (!entry) return { type: 'delete', key, ...(previous && { previous }) };
    return { type: 'put', entry, ...(previous && { previous }) };
  }

  async #readHistory(span: Required<WatchOptions> & { to: Revision }): Promise<HistoryPage> {
    const { fromRevision: from, to, prefix } = span;
    const { previous, history: rowsMax } = this.#steps;
    await this.#pauseInHistory(from);
    let page = this.#reader.history(prefixRange(prefix), { from, to, rowsMax });
    const batches: (WatchBatch & { events: StoreEvent[] })[] = [];
    for (;;) {
      for (const [place, row] of page.rows.entries()) {
        if (span.previous && place % previous === 0) await this.#pauseInHistory(from);
        if (batches.at(-1)?.revision !== row.revision) batches.push({ revision: row.revision, events: [] });
        batches.at(-1)!.events.push(this.#eventOf(row, span.previous));
      }
      const { unfinished } = page;
      if (!unfinished) return { batches, next: page.next };
      await this.#pauseInHistory(from);
      const rest = { from, to: unfinished.revision, rowsMax, afterId: unfinished.id };
      page = this.#reader.history(prefixRange(prefix), rest);
    }
  }

  /** Pauses between two slices of a read. The rest may be compacted meanwhile. */
  async #pauseInHistory(from: Revision): Promise<void> {
    await breathe(this.#options.clock);
    if (from <= this.#compacted) throw new CompactedError(from, this.#compacted);
  }

  #eventOf(row: Row, withPrevious: boolean): StoreEvent {
    const previous = withPrevious && row.previousId > 0 ? this.#reader.entryById(row.previousId) : undefined;
    if (!row.value) return { type: 'delete', key: row.key, ...(previous && { previous }) };
    return { type: 'put', entry: entryOf(row), ...(previous && { previous }) };
  }

  /** Background work: the next compaction repeats it if the disk fails. */
  async #compactQuietly(revision: Revision): Promise<void> {
    await this.compact(revision).catch(() => {});
  }

  /** Runs one at a time: a run in progress does not see rows that a compaction has just made obsolete. Never rejects. */
  #removeObsolete(): Promise<void> {
    return (this.#removing = this.#removing.then(() => this.#removeInSteps()));
  }

  /** Runs in small steps between other groups, so that no commit waits for a large compaction. */
  async #removeInSteps(): Promise<void> {
    try {
      for (let more = true; more && !this.#closing;) {
        more = (await this.#submit({ type: 'removeObsolete', rowsMax: this.#steps.obsolete })).more ?? false;
        await breathe(this.#options.clock);
      }
    } catch {
      // Only space is affected; the next compaction continues here.
    }
  }

  /** Returns the revision of the tables, which may be ahead of the published one. */
  #readRevision(): Revision {
    const revision = this.#reader.revision();
    this.#recent.saw(revision);
    return revision;
  }

  #checkReadable(revision: Revision): void {
    checkRevision(revision);
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
    const current = this.#readRevision();
    if (revision > current) throw futureRevision(revision, current);
  }

  #refuseWhenClosed(): void {
    if (this.#closing) throw closed();
  }
}

/** Returns the first revision in the history that is not before `from`. A damaged row ends the search; a read of the row reports it. */
function firstRevisionFrom(reader: TableReader, from: Revision, to: Revision): Revision | undefined {
  try {
    return reader.history(everything, { from, to, rowsMax: 1 }).rows[0]?.revision;
  } catch {
    return undefined;
  }
}

/** Undefined when the change is a deletion. */
function writtenEntry(revision: Revision, change: Change, writes: readonly Write[]): Entry | undefined {
  const write = writes[change.write];
  if (write?.type !== 'put') return undefined;
  const { key, createRevision, version } = change;
  const modRevision = write.restored?.modRevision ?? revision;
  return { key, value: write.value, createRevision, modRevision, version, lease: write.lease };
}
