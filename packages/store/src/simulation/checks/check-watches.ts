/**
 * Watches, one named property after the other. A watch has **passed** a revision when it delivered it, something behind it, or a progress
 * mark at or behind it: from then on, an undelivered event is missing.
 */

import type { Revision, StoreEvent, WatchBatch } from '../../contract.ts';
import type { GivenUp } from '../model/given-up.ts';
import { difference } from '../model/timeline.ts';
import type { Change, Timeline } from '../model/timeline.ts';
import type { Truth } from '../model/truth.ts';
import type { Recorder } from '../recorder.ts';
import type { WatchRecord } from '../records.ts';
import type { Moment } from '../trace.ts';
import { Violation } from '../violation.ts';
import type { Property } from '../violation.ts';
import { checkRevisionExists } from './check-revision.ts';

export function checkWatches(recorder: Recorder, truth: Truth, givenUp: GivenUp): void {
  for (const watch of recorder.watches) {
    const check = new WatchCheck(watch, truth, givenUp);
    recorder.findings.check(() => check.run());
  }
}

class WatchCheck {
  readonly #watch: WatchRecord;
  readonly #truth: Truth;
  readonly #timeline: Timeline;
  readonly #givenUp: GivenUp;
  #passed: number;
  #marked = 0;
  /** For progress, and not answered yet. */
  #requests: WatchRecord['progressRequests'];
  readonly #delivered: WatchBatch[] = [];

  constructor(watch: WatchRecord, truth: Truth, givenUp: GivenUp) {
    this.#watch = watch;
    this.#truth = truth;
    this.#timeline = truth.timeline(watch.universe);
    this.#givenUp = givenUp;
    this.#requests = watch.progressRequests;
    this.#passed = watch.from === undefined ? watch.floor : watch.from - 1;
  }

  run(): void {
    for (const { batch, moment } of this.#watch.deliveries) {
      if (batch.events.length > 0) this.#events(batch, moment);
      else this.#mark(batch, moment);
    }
    this.#compacted();
  }

  #events(batch: WatchBatch, moment: Moment): void {
    this.#begun(moment);
    this.#filtered(batch, moment);
    if (batch.revision <= this.#passed) throw this.#repeated(batch, moment);
    this.#gapless(batch.revision - 1, moment);
    this.#complete(batch, moment);
    this.#passed = batch.revision;
    this.#delivered.push(batch);
  }

  #mark({ revision }: WatchBatch, moment: Moment): void {
    this.#begun(moment);
    this.#asked(revision, moment);
    checkRevisionExists(this.#truth, revision, moment);
    const last = this.#delivered.at(-1)?.revision ?? 0;
    if (revision < last) throw this.#broken('bookmarkable', moment, `a mark at ${revision} comes after ${last}`);
    const missing = this.#missing(revision, moment);
    if (missing)
      throw this.#broken('bookmarkable', moment, `a mark at ${revision} covers ${missing}, which did not come`);
    this.#marked = Math.max(this.#marked, revision);
    this.#passed = Math.max(this.#passed, revision);
  }

  /** A mark answers every request that was made when no more than its revision was known, and at least one. */
  #asked(revision: Revision, moment: Moment): void {
    const made = this.#requests.filter((request) => request.moment.line < moment.line);
    this.#requests = this.#requests.filter((request) => !made.includes(request) || request.floor > revision);
    if (made.length === 0 || made.some((request) => request.floor <= revision)) return;
    throw this.#broken('bookmarkable', moment, `a mark at ${revision}, asked for when ${made[0]!.floor} was known`);
  }

  /** A watch that begins in compacted history gets nothing. */
  #begun(moment: Moment): void {
    const { from, invoked } = this.#watch;
    const compacted = this.#givenUp.atLeast(invoked);
    if (from === undefined || from >= compacted) return;
    throw this.#broken('compacted', moment, `it begins at ${from}, which was compacted to ${compacted} before`);
  }

  #filtered(batch: WatchBatch, moment: Moment): void {
    for (const event of batch.events) {
      const key = keyOf(event);
      if (key.includes('.hidden/')) throw this.#broken('tombstones', moment, `the tombstone ${key} is seen`);
      if (!key.startsWith(this.#watch.prefix)) throw this.#broken('filtered', moment, `${key} is not of the prefix`);
    }
  }

  #repeated(batch: WatchBatch, moment: Moment): Violation {
    const { revision } = batch;
    const same = this.#delivered.find((delivered) => delivered.revision === revision);
    if (same) {
      const keys = new Set(same.events.map(keyOf));
      const again = batch.events.some((event) => keys.has(keyOf(event)));
      return this.#broken(again ? 'unique' : 'atomic', moment, `${revision} comes ${again ? 'twice' : 'in two parts'}`);
    }
    if (revision <= this.#marked)
      return this.#broken('bookmarkable', moment, `${revision} comes after a mark at ${this.#marked}`);
    if (this.#delivered.length > 0) return this.#broken('ordered', moment, `${revision} comes after ${this.#passed}`);
    if (this.#watch.resumed) return this.#broken('resumable', moment, `${revision} comes again, after ${this.#passed}`);
    return this.#broken('filtered', moment, `${revision} is before the beginning, ${this.#passed + 1}`);
  }

  #gapless(to: number, moment: Moment): void {
    const missing = this.#missing(to, moment);
    if (!missing) return;
    if (this.#watch.deliveries.some(({ batch }) => batch.revision === missing && batch.events.length > 0)) {
      throw this.#broken('ordered', moment, `${missing} comes only later`);
    }
    const atOnce = this.#delivered.length === 0 && this.#watch.resumed;
    throw this.#broken(atOnce ? 'resumable' : 'reliable', moment, `${missing} is missing`);
  }

  /** The first revision up to `to` that should have come and did not. */
  #missing(to: number, moment: Moment): Revision | undefined {
    return this.#timeline.changes.find(
      ({ revision, changes }) =>
        revision > this.#passed &&
        revision <= to &&
        changes.some(({ key }) => key.startsWith(this.#watch.prefix)) &&
        !this.#mayHaveBeenBefore(revision) &&
        !this.#isFromLater(revision, moment),
    )?.revision;
  }

  /** A watch from now on need not deliver transactions in progress when it began. */
  #mayHaveBeenBefore(revision: Revision): boolean {
    if (this.#watch.from !== undefined || this.#delivered.length > 0 || this.#marked > 0) return false;
    const commit = this.#truth.transactions.get(revision)!.commit;
    return commit !== undefined && commit.invoked.line < this.#watch.invoked.line;
  }

  /** A revision that was given away again after a crash is not the fault of a watch that saw the time before. */
  #isFromLater(revision: Revision, moment: Moment): boolean {
    return this.#truth.transactions.get(revision)!.since.line > moment.line;
  }

  #complete(batch: WatchBatch, moment: Moment): void {
    const real = new Map<string, Change>();
    for (const change of this.#timeline.changesAt(batch.revision) ?? []) {
      if (change.key.startsWith(this.#watch.prefix)) real.set(change.key, change);
    }
    for (const event of batch.events) {
      const key = keyOf(event);
      const change = real.get(key);
      if (!change) throw this.#broken('invented', moment, `${batch.revision} did not change ${key}, or not only once`);
      real.delete(key);
      const problem = difference(event.type === 'put' ? event.entry : undefined, change.entry);
      if (problem) throw this.#broken('invented', moment, `${batch.revision} brings ${problem}`);
      const previous = difference(event.previous, this.#watch.previous ? change.previous : undefined);
      if (previous) throw this.#broken('filtered', moment, `${batch.revision} brings as previous entry ${previous}`);
    }
    const [missing] = real.keys();
    if (missing !== undefined) throw this.#broken('atomic', moment, `${batch.revision} comes without ${missing}`);
  }

  #compacted(): void {
    const { failure } = this.#watch;
    if (failure?.code !== 'Compacted') return;
    const to = failure.compactedRevision!;
    if (to > this.#passed && to <= this.#givenUp.atMost(failure.moment)) return;
    const why = `it ends at ${this.#passed} because of a compaction to ${to}`;
    throw this.#broken('compacted', failure.moment, why);
  }

  #broken(property: Property, moment: Moment, message: string): Violation {
    const { prefix, universe, invoked } = this.#watch;
    const name = `the watch of '${prefix}' in ${universe.name} that began in line ${invoked.line}`;
    return new Violation(property, moment.line, `${name}: ${message}`);
  }
}

function keyOf(event: StoreEvent): string {
  return event.type === 'put' ? event.entry.key : event.key;
}
