/**
 * Executes one command on the tables: reads, checks and writes in one synchronous block, so that no other command can
 * come between a condition and its write. Driver-independent; the embedded driver runs it in the writer's thread.
 */

import { unreachable } from '@hangar/core';
import type { Committed, Entry, Revision, Write } from '../contract.ts';
import { revisionMinOf } from '../limits.ts';
import type { Change, Command, Outcome } from './command.ts';
import type { LiveRow, Row } from './rows.ts';
import type { TableWriter } from './tables.ts';

export function execute(tables: TableWriter, command: Command): Outcome {
  switch (command.type) {
    case 'transaction':
      return transaction(tables, command.writes);
    case 'grantLease':
      tables.addLease(command.lease);
      return unchanged(tables);
    case 'revokeLease': {
      if (!tables.hasLease(command.id)) return leaseNotFound(command.id);
      const change = new Transaction(tables);
      for (const key of tables.leasedKeys(command.id)) change.delete(key, tables.live(key));
      tables.removeLease(command.id);
      return change.outcome();
    }
    case 'compact':
      tables.setCompactedRevision(command.revision);
      return unchanged(tables);
    case 'removeObsolete':
      return { ...unchanged(tables), more: tables.removeObsolete(command.rowsMax) };
    default:
      return unreachable(command);
  }
}

function transaction(tables: TableWriter, writes: readonly Write[]): Outcome {
  const before: (LiveRow | undefined)[] = [];
  let failed: { key: string; entry: Entry | undefined }[] | undefined;
  for (const write of writes) {
    if (write.type === 'deleteRange') {
      before.push(undefined);
      continue;
    }
    const live = tables.live(write.key);
    before.push(live);
    if (write.expected !== undefined && write.expected !== (live?.modRevision ?? 0)) {
      (failed ??= []).push({ key: write.key, entry: tables.liveEntry(write.key) });
    }
    if (write.type === 'put' && write.lease !== undefined && !tables.hasLease(write.lease))
      return leaseNotFound(write.lease);
  }
  if (failed) {
    return { result: { committed: false, revision: tables.newestRevision(), conflicts: failed }, changes: [] };
  }
  const change = new Transaction(tables, revisionMinOf(writes));
  writes.forEach((write, place) => {
    if (write.type === 'put') change.put(write, place, before[place]);
    else if (write.type === 'delete') change.delete(write.key, before[place]);
    else if (write.type === 'deleteRange') {
      for (const live of tables.liveIn(write.range)) change.delete(live.key, live);
    }
  });
  return change.outcome();
}

/** Rows under one new revision. */
class Transaction {
  readonly #tables: TableWriter;
  readonly #revision: Revision;
  readonly #changes: Change[] = [];
  #deleted = 0;

  constructor(tables: TableWriter, revisionMin = 0) {
    this.#tables = tables;
    this.#revision = Math.max(tables.nextId(), revisionMin) as Revision;
  }

  put(write: Write & { type: 'put' }, place: number, live: LiveRow | undefined): void {
    const { key, value, lease, restored } = write;
    const { createRevision, version } = restored ?? {
      createRevision: live?.createRevision ?? this.#revision,
      version: (live?.version ?? 0) + 1,
    };
    const modRevision = restored && restored.modRevision < this.#revision ? restored.modRevision : undefined;
    this.#append(key, value, { write: place, createRevision, modRevision, version, lease }, live);
  }

  delete(key: string, live: LiveRow | undefined): void {
    if (!live) return;
    this.#deleted++;
    this.#append(key, undefined, { write: -1, createRevision: 0 as Revision, version: 0, lease: undefined }, live);
  }

  outcome(): Outcome {
    const revision = this.#changes.length > 0 ? this.#revision : this.#tables.newestRevision();
    return { result: committed(revision, this.#deleted), changes: this.#changes };
  }

  #append(
    key: string,
    value: Uint8Array | undefined,
    made: Pick<Change, 'write' | 'createRevision' | 'version'> & Pick<Row, 'lease' | 'modRevision'>,
    replaced: LiveRow | undefined,
  ): void {
    const { write, createRevision, modRevision, version, lease } = made;
    const previousId = replaced?.id ?? 0;
    const id = Math.max(this.#tables.nextId(), this.#revision);
    const row = { id, revision: this.#revision, key, value, createRevision, modRevision, version, lease, previousId };
    this.#tables.append(row, replaced);
    this.#changes.push({ key, write, createRevision, version, previousId });
  }
}

function committed(revision: Revision, deleted = 0): Committed {
  return { committed: true, revision, deleted };
}

function unchanged(tables: TableWriter): { result: Committed; changes: [] } {
  return { result: committed(tables.newestRevision()), changes: [] };
}

function leaseNotFound(id: string): Outcome {
  return {
    error: { code: 'LeaseNotFound', message: `lease ${id} not found: it expired, was revoked or never existed` },
  };
}
