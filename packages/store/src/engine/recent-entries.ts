/**
 * Entries that were written or read recently, as the last published commit left them: most reads are of those, and a read of the tables
 * costs more than the rest of an answer.
 *
 * Linearizable like the tables: another read may already have seen a revision in the tables that is not published yet; until it is, the
 * cache returns nothing. When a commit fails, its effect is unknown: the cache is cleared.
 *
 * Bounded by two generations: used entries move to the young one; when that has half of the bytes, the old one is dropped.
 */

import type { Entry, KeyRange, Revision } from '../contract.ts';
import { inRange } from '../keys.ts';

/** A range whose entries before the revision are deleted. */
interface DeletedRange {
  readonly range: KeyRange;
  readonly revision: Revision;
}

/** Number of entries that one slice of a sweep looks at. */
const sweptAtOnce = 256;

export class RecentEntries {
  readonly #generationBytesMax: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;
  /** Ranges whose entries are not all removed yet. */
  #deleted: DeletedRange[] = [];
  #published: Revision;
  #seen: Revision;

  constructor(bytesMax: number, revision: Revision) {
    this.#generationBytesMax = bytesMax / 2;
    this.#published = revision;
    this.#seen = revision;
  }

  /** Covers all acknowledged commits and all revisions that a read has seen. */
  get revision(): Revision {
    return this.#seen > this.#published ? this.#seen : this.#published;
  }

  /** Undefined: read from the tables. */
  get(key: string): Entry | undefined {
    if (this.#seen > this.#published) return undefined;
    const young = this.#young.get(key);
    const entry = young ?? this.#old.get(key);
    if (entry && this.#deleted.some((deleted) => isDeleted(entry, deleted))) return undefined;
    if (entry && !young) this.#put(entry);
    return entry;
  }

  /** Called when a read of the tables saw this revision, and optionally this entry. */
  saw(revision: Revision, entry?: Entry): void {
    if (revision > this.#seen) this.#seen = revision;
    if (entry) this.#put(entry);
  }

  /** Called in the order of revisions: first each change, then the publication. */
  changed(key: string, entry: Entry | undefined, revision: Revision): void {
    const known = this.#young.get(key) ?? this.#old.get(key);
    // A read was faster, and saw the entry of a later commit.
    if (known && known.modRevision >= revision) return;
    if (known) this.#forget(key);
    if (entry) this.#put(entry);
  }

  /**
   * Called instead of `changed` when a commit deleted all entries of a range: they are no longer returned. The result removes them, in
   * slices.
   */
  rangeDeleted(range: KeyRange, revision: Revision): Iterable<void> {
    const deleted = { range, revision };
    this.#deleted.push(deleted);
    return this.#sweep(deleted, [this.#young, this.#old]);
  }

  *#sweep(deleted: DeletedRange, generations: readonly ReadonlyMap<string, Entry>[]): Generator<void, void, void> {
    let count = 0;
    for (const generation of generations) {
      for (const entry of generation.values()) {
        if (count++ % sweptAtOnce === 0) yield;
        if (isDeleted(entry, deleted)) this.#forget(entry.key);
      }
    }
    this.#deleted = this.#deleted.filter((one) => one !== deleted);
  }

  published(revision: Revision): void {
    this.#published = revision;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = 0;
  }

  #forget(key: string): void {
    const young = this.#young.get(key);
    if (young) this.#youngBytes -= bytesOf(young);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  #put(given: Entry): void {
    const entry = ownBytes(given);
    const bytes = bytesOf(entry);
    if (bytes > this.#generationBytesMax) return this.#forget(entry.key);
    this.#forget(entry.key);
    this.#young.set(entry.key, entry);
    this.#youngBytes += bytes;
    if (this.#youngBytes <= this.#generationBytesMax) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}

const isDeleted = ({ key, modRevision }: Entry, { range, revision }: DeletedRange): boolean =>
  modRevision < revision && inRange(key, range);

/** Copies small values: such a value is often a slice of shared memory, which it would keep alive. */
function ownBytes(entry: Entry): Entry {
  const { value } = entry;
  return value.buffer.byteLength <= 2 * value.length + 64 ? entry : { ...entry, value: Uint8Array.from(value) };
}

/** Approximate size, including the maps and the object itself. */
const bytesOf = ({ key, value }: Entry): number => key.length + value.length + 200;
