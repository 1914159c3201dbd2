/**
 * The three tables (`engine/rows.ts`) in memory. A group of commands changes them at once, but readers see only what
 * `makeDurable` covered; `rollBack` undoes a group whose journal write failed.
 */

import { assert } from '@hangar/core';
import type { Entry, KeyRange, Lease, LeaseId, Revision } from '../../contract.ts';
import { compareKeys, inRange } from '../../keys.ts';
import { SortedMap } from '../../engine/sorted-map.ts';
import { entryOf, firstRevision } from '../../engine/rows.ts';
import type { LiveRow, Row } from '../../engine/rows.ts';
import type { HistoryRows, HistorySpan, TableRangeOptions, TableReader, TableWriter } from '../../engine/tables.ts';
import type { Mutation } from './mutation.ts';

interface PastRow {
  readonly row: Row;
  readonly deadRevision: Revision;
}

interface LeaseState {
  readonly ttlMs: number;
  readonly keys: Set<string>;
}

/** Shorter ranges of skipped ids are walked. */
const gapLengthMin = 100;

export class MemoryTables implements TableReader, TableWriter {
  readonly #log = new Map<number, Row>();
  readonly #live = new SortedMap<Row>();
  readonly #past = new SortedMap<PastRow[]>();
  readonly #leases = new Map<LeaseId, LeaseState>();
  #newest: { id: number; revision: Revision } = { id: firstRevision, revision: firstRevision };
  /** Long ranges of ids that were skipped; in order. */
  readonly #gaps: { readonly start: number; readonly end: number }[] = [];
  #compacted = 0 as Revision;
  #durable = firstRevision;
  /** Log rows before this id have nothing obsolete behind them. */
  #obsoleteFrom = 1;
  #group: Mutation[] = [];
  #undo: (() => void)[] = [];

  // ── the group under way ──

  /** The changes since the last `makeDurable` or `rollBack`, for the journal. */
  get group(): readonly Mutation[] {
    return this.#group;
  }

  makeDurable(): void {
    this.#durable = this.#newest.revision;
    this.#group = [];
    this.#undo = [];
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#group = [];
    this.#undo = [];
  }

  /** Everything that rebuilds these tables, for a fresh journal. Only between groups. */
  *snapshot(): Generator<Mutation, void, void> {
    assert(this.#group.length === 0, 'a snapshot inside a group');
    for (const [id, { ttlMs }] of this.#leases) yield { type: 'addLease', lease: { id, ttlMs } };
    // By id, not as the map has them: a removal that was rolled back put its row at the end.
    const rows = [...this.#log.values()].sort((a, b) => a.id - b.id);
    for (const row of rows) yield { type: 'append', row };
    yield { type: 'compact', revision: this.#compacted };
  }

  apply(mutation: Mutation): void {
    this.#group.push(mutation);
    switch (mutation.type) {
      case 'append':
        return this.#applyAppend(mutation.row);
      case 'addLease':
        this.#leases.set(mutation.lease.id, { ttlMs: mutation.lease.ttlMs, keys: new Set() });
        this.#undo.push(() => this.#leases.delete(mutation.lease.id));
        return;
      case 'removeLease': {
        const state = this.#leases.get(mutation.id);
        this.#leases.delete(mutation.id);
        if (state) this.#undo.push(() => this.#leases.set(mutation.id, state));
        return;
      }
      case 'compact': {
        const before = this.#compacted;
        this.#compacted = mutation.revision;
        this.#undo.push(() => (this.#compacted = before));
        return;
      }
      case 'removeRow':
        return this.#applyRemoveRow(mutation.id);
    }
  }

  #applyAppend(row: Row): void {
    const { key } = row;
    const before = this.#newest;
    const replaced = this.#live.get(key);
    const isAfterGap = row.id > before.id + gapLengthMin;
    if (isAfterGap) this.#gaps.push({ start: before.id + 1, end: row.id });
    this.#log.set(row.id, row);
    this.#newest = { id: row.id, revision: row.revision };
    if (replaced) {
      this.#pastOf(key).push({ row: replaced, deadRevision: row.revision });
      this.#detach(replaced);
    }
    if (row.value) this.#live.set(key, row);
    else this.#live.delete(key);
    this.#attach(row);
    this.#undo.push(() => {
      this.#detach(row);
      if (replaced) {
        this.#pastOf(key).pop();
        this.#dropEmptyPast(key);
        this.#live.set(key, replaced);
        this.#attach(replaced);
      } else this.#live.delete(key);
      this.#log.delete(row.id);
      if (isAfterGap) this.#gaps.pop();
      this.#newest = before;
    });
  }

  #applyRemoveRow(id: number): void {
    const row = this.#log.get(id);
    if (!row) return;
    const versions = this.#past.get(row.key);
    const at = versions ? versions.findIndex((past) => past.row.id === id) : -1;
    const removed = at >= 0 ? versions!.splice(at, 1)[0] : undefined;
    this.#dropEmptyPast(row.key);
    this.#log.delete(id);
    this.#undo.push(() => {
      this.#log.set(id, row);
      if (removed) this.#pastOf(row.key).splice(at, 0, removed);
    });
  }

  #pastOf(key: string): PastRow[] {
    let versions = this.#past.get(key);
    if (!versions) this.#past.set(key, (versions = []));
    return versions;
  }

  #dropEmptyPast(key: string): void {
    if (this.#past.get(key)?.length === 0) this.#past.delete(key);
  }

  #attach(row: Row): void {
    if (row.lease !== undefined) this.#leases.get(row.lease)?.keys.add(row.key);
  }

  #detach(row: Row): void {
    if (row.lease !== undefined) this.#leases.get(row.lease)?.keys.delete(row.key);
  }

  // ── TableWriter ──

  newestRevision(): Revision {
    return this.#newest.revision;
  }

  nextId(): number {
    return this.#newest.id + 1;
  }

  live(key: string): LiveRow | undefined {
    const row = this.#live.get(key);
    return row && liveRowOf(row);
  }

  liveEntry(key: string): Entry | undefined {
    const row = this.#live.get(key);
    return row && entryOf(row);
  }

  liveIn(range: KeyRange): LiveRow[] {
    return Array.from(this.#live.entries(range), ([, row]) => liveRowOf(row));
  }

  append(row: Row): void {
    this.apply({ type: 'append', row });
  }

  hasLease(id: LeaseId): boolean {
    return this.#leases.has(id);
  }

  addLease(lease: Lease): void {
    this.apply({ type: 'addLease', lease });
  }

  removeLease(id: LeaseId): void {
    this.apply({ type: 'removeLease', id });
  }

  leasedKeys(id: LeaseId): string[] {
    return [...(this.#leases.get(id)?.keys ?? [])];
  }

  setCompactedRevision(revision: Revision): void {
    this.apply({ type: 'compact', revision });
  }

  removeObsolete(rowsMax: number): boolean {
    const before = this.#obsoleteFrom;
    let id = before;
    for (let seen = 0; seen < rowsMax && id <= this.#compacted; seen++) {
      const row = this.#log.get(id);
      id = row ? id + 1 : this.#behindGap(id);
      if (!row) continue;
      if (this.#log.has(row.previousId)) this.apply({ type: 'removeRow', id: row.previousId });
      if (!row.value && row.id < this.#newest.id) this.apply({ type: 'removeRow', id: row.id });
    }
    this.#obsoleteFrom = id;
    this.#undo.push(() => (this.#obsoleteFrom = before));
    return id <= this.#compacted;
  }

  // ── TableReader ──

  revision(): Revision {
    return this.#durable;
  }

  compactedRevision(): Revision {
    return this.#compacted;
  }

  get(key: string, at: Revision | undefined): { entry: Entry | undefined; revision: Revision } {
    const row = this.#rowAt(key, at ?? this.#durable);
    return { entry: row && entryOf(row), revision: this.#durable };
  }

  range(range: KeyRange, options: TableRangeOptions): { entries: Entry[]; revision: Revision } {
    const entries: Entry[] = [];
    for (const row of this.#rowsAt(range, options.at ?? this.#durable)) {
      if (entries.length === options.limit) break;
      entries.push(entryOf(row, options.keysOnly));
    }
    return { entries, revision: this.#durable };
  }

  statistics(range: KeyRange, at: Revision | undefined): { keys: number; bytes: number; revision: Revision } {
    let keys = 0;
    let bytes = 0;
    for (const row of this.#rowsAt(range, at ?? this.#durable)) {
      keys++;
      bytes += Buffer.byteLength(row.key) + row.value!.length;
    }
    return { keys, bytes, revision: this.#durable };
  }

  history(range: KeyRange, { from, to, rowsMax, afterId = 0 }: HistorySpan): HistoryRows {
    const rows: Row[] = [];
    let revision: Revision | undefined;
    for (let id = Math.max(from, afterId + 1), seen = 0; id <= this.#newest.id;) {
      const row = this.#log.get(id);
      id = row ? id + 1 : this.#behindGap(id);
      if (!row || row.revision < from) continue;
      if (row.revision > to) break;
      if (++seen > rowsMax && revision !== undefined) {
        const { revision: next } = row;
        return next === revision ? { rows, next, unfinished: { id: row.id - 1, revision } } : { rows, next };
      }
      revision = row.revision;
      if (inRange(row.key, range)) rows.push(row);
    }
    return { rows, next: (to + 1) as Revision };
  }

  /** Returns the next id at which a row can be. */
  #behindGap(id: number): number {
    let [low, high] = [0, this.#gaps.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#gaps[middle]!.end > id) high = middle;
      else low = middle + 1;
    }
    const gap = this.#gaps[low];
    return gap && gap.start <= id ? gap.end : id + 1;
  }

  entryById(id: number): Entry | undefined {
    const row = this.#log.get(id);
    return row?.value && entryOf(row);
  }

  leases(): Lease[] {
    return [...this.#leases].map(([id, { ttlMs }]) => ({ id, ttlMs }));
  }

  #rowAt(key: string, at: Revision): Row | undefined {
    const live = this.#live.get(key);
    if (live && live.revision <= at) return live;
    return this.#past.get(key)?.find((past) => past.row.revision <= at && at < past.deadRevision)?.row;
  }

  /** In key order: the live rows and the past ones, merged. */
  *#rowsAt(range: KeyRange, at: Revision): Generator<Row, void, void> {
    const past = at < this.#newest.revision ? this.#pastAt(range, at) : [];
    let next = 0;
    for (const [, row] of this.#live.entries(range)) {
      if (row.revision > at) continue;
      while (next < past.length && compareKeys(past[next]!.key, row.key) < 0) yield past[next++]!;
      yield row;
    }
    yield* past.slice(next);
  }

  #pastAt(range: KeyRange, at: Revision): Row[] {
    const rows: Row[] = [];
    for (const [, versions] of this.#past.entries(range)) {
      const visible = versions.find((past) => past.row.revision <= at && at < past.deadRevision);
      if (visible) rows.push(visible.row);
    }
    return rows;
  }
}

function liveRowOf({ id, key, createRevision, revision, modRevision = revision, version, lease }: Row): LiveRow {
  return { id, key, createRevision, modRevision, version, lease };
}
