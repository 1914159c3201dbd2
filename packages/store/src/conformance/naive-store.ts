/**
 * The contract in its plainest form, for property tests: a list of every version of every key, searched from its end.
 * It takes revisions from the store under test (any number that grows will do) and predicts everything else.
 */

import assert from 'node:assert/strict';
import type { CommitResult, Entry, KeyRange, LeaseId, Revision, StoreEvent, WatchBatch, Write } from '../contract.ts';
import { compareKeys, inRange } from '../keys.ts';
import { revisionMinOf } from '../limits.ts';

interface Version {
  readonly revision: Revision;
  readonly key: string;
  /** Undefined: deleted. */
  readonly entry: Entry | undefined;
}

/** Predicted effect of a transaction, without its revision. */
export type Prediction =
  | { conflicts: string[] }
  | { puts: (Write & { type: 'put' })[]; deletes: string[] }
  | { error: 'LeaseNotFound' };

export class NaiveStore {
  readonly versions: Version[] = [];
  readonly leases = new Set<LeaseId>();
  revision = 1 as Revision;
  compacted = 0 as Revision;

  entry(key: string, at: Revision = this.revision): Entry | undefined {
    return this.versions.findLast((version) => version.key === key && version.revision <= at)?.entry;
  }

  range(range: KeyRange, at: Revision = this.revision): Entry[] {
    const keys = new Set(this.versions.map((version) => version.key).filter((key) => inRange(key, range)));
    return [...keys].sort(compareKeys).flatMap((key) => this.entry(key, at) ?? []);
  }

  predict(writes: readonly Write[]): Prediction {
    const conflicts: string[] = [];
    for (const write of writes) {
      if (write.type === 'deleteRange') continue;
      if (write.type === 'put' && write.lease !== undefined && !this.leases.has(write.lease)) {
        return { error: 'LeaseNotFound' };
      }
      const current = this.entry(write.key)?.modRevision ?? 0;
      if (write.expected !== undefined && write.expected !== current) conflicts.push(write.key);
    }
    if (conflicts.length > 0) return { conflicts };
    const puts = writes.filter((write) => write.type === 'put');
    const deletes = writes.flatMap((write) => {
      if (write.type === 'deleteRange') return this.range(write.range).map((entry) => entry.key);
      return write.type === 'delete' && this.entry(write.key) ? [write.key] : [];
    });
    return { puts, deletes };
  }

  /** Compares the result of the store with the prediction, and applies it. */
  committed(writes: readonly Write[], result: CommitResult): void {
    const predicted = this.predict(writes);
    assert.ok(!('error' in predicted));
    if ('conflicts' in predicted) {
      assert.ok(!result.committed, 'it should have conflicted');
      assert.deepEqual(result.conflicts.map((conflict) => conflict.key).sort(), predicted.conflicts.sort());
      for (const { key, entry } of result.conflicts) assert.deepEqual(entry, this.entry(key));
      assert.equal(result.revision, this.revision);
      return;
    }
    assert.ok(result.committed, 'it should have been committed');
    assert.equal(result.deleted, predicted.deletes.length);
    this.#append(result.revision, predicted.puts, predicted.deletes);
  }

  revoked(id: LeaseId, revision: Revision): void {
    const keys = this.range({ start: '' }).filter((entry) => entry.lease === id);
    this.leases.delete(id);
    this.#append(
      revision,
      [],
      keys.map((entry) => entry.key),
    );
  }

  /** All batches from a revision on. */
  history(prefix: string, from: Revision): WatchBatch[] {
    const batches: (WatchBatch & { events: StoreEvent[] })[] = [];
    for (const { revision, key, entry } of this.versions) {
      if (revision < from || !key.startsWith(prefix)) continue;
      if (batches.at(-1)?.revision !== revision) batches.push({ revision, events: [] });
      const previous = this.entry(key, (revision - 1) as Revision);
      const more = previous && { previous };
      batches.at(-1)!.events.push(entry ? { type: 'put', entry, ...more } : { type: 'delete', key, ...more });
    }
    return batches;
  }

  #append(revision: Revision, puts: readonly (Write & { type: 'put' })[], deletes: readonly string[]): void {
    if (puts.length + deletes.length === 0) {
      assert.equal(revision, this.revision, 'a transaction without effect moved the revision');
      return;
    }
    assert.ok(revision > this.revision, `revision ${revision} after ${this.revision}`);
    assert.ok(revision >= revisionMinOf(puts), `revision ${revision} is below ${revisionMinOf(puts)}`);
    const made = puts.map(({ key, value, lease, restored }): Version => {
      const before = this.entry(key);
      const { createRevision, modRevision, version } = restored ?? {
        createRevision: before?.createRevision ?? revision,
        modRevision: revision,
        version: (before?.version ?? 0) + 1,
      };
      return { revision, key, entry: { key, value, createRevision, modRevision, version, lease } };
    });
    this.versions.push(...made, ...deletes.map((key): Version => ({ revision, key, entry: undefined })));
    this.revision = revision;
  }
}
