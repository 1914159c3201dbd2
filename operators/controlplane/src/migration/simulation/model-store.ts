/** A store with revisions, as both sides have one: the current entries, and the changes since its oldest kept revision. */

import { CodedError } from '@hangar/core';
import type { ReplicaDigest, ReplicaEntry, ReplicaFrame, Revision } from '@hangar/store';

type Batch = Extract<ReplicaFrame, { type: 'batch' }>;

export class ModelStore {
  #entries = new Map<string, ReplicaEntry>();
  #batches: Batch[] = [];
  /** Changes up to this revision are not kept. */
  #compacted = 0;
  revision = 0;

  get entries(): ReadonlyMap<string, ReplicaEntry> {
    return this.#entries;
  }

  put(key: string, value: string, revision: number): void {
    const before = this.#entries.get(key);
    const at = revision as Revision;
    const entry: ReplicaEntry = {
      key,
      value: Buffer.from(value),
      createRevision: before?.createRevision ?? at,
      modRevision: at,
      version: (before?.version ?? 0) + 1,
    };
    this.append({ type: 'batch', revision: at, puts: [entry], deletes: [] });
  }

  /** Skips what it has. */
  append(frame: ReplicaFrame): void {
    if (frame.type === 'entry' || frame.revision <= this.revision) return;
    this.revision = frame.revision;
    if (frame.type !== 'batch') return;
    this.#batches.push(frame);
    for (const entry of frame.puts) this.#entries.set(entry.key, entry);
    for (const key of frame.deletes) this.#entries.delete(key);
  }

  load(entries: readonly ReplicaEntry[], revision: number): void {
    this.#entries = new Map(entries.map((entry) => [entry.key, entry]));
    this.#batches = [];
    this.#compacted = revision;
    this.revision = revision;
  }

  /** Deletes the history. */
  compact(): void {
    this.#batches = [];
    this.#compacted = this.revision;
  }

  changesAfter(revision: number): readonly Batch[] {
    if (revision < this.#compacted) throw new CodedError('Compacted', `revision ${revision} has been compacted`);
    return this.#batches.filter((batch) => batch.revision > revision);
  }

  digest(at: number): ReplicaDigest {
    if (at > this.revision) throw new CodedError('FutureRevision', `revision ${at} does not exist yet`);
    const later = this.#batches.filter((batch) => batch.revision > at);
    const changed = new Set(later.flatMap(({ puts, deletes }) => [...puts.map(({ key }) => key), ...deletes]));
    const lines = Array.from(this.#entries.values())
      .filter(({ key }) => !changed.has(key))
      .map(lineOf);
    const earlier = this.#batches.filter(({ revision }) => revision <= at).flatMap(({ puts }) => puts);
    for (const key of changed) {
      const entry = earlier.findLast((one) => one.key === key);
      if (entry) lines.push(lineOf(entry));
    }
    return { revision: at as Revision, entries: lines.length, digest: lines.sort().join(';') };
  }
}

const lineOf = ({ key, value, createRevision, modRevision, version }: ReplicaEntry): string =>
  `${key}=${Buffer.from(value).toString()}@${createRevision}/${modRevision}/${version}`;
