/** Transactions: one call to etcd each, never repeated unless it certainly did not happen. */

import type { CommitResult, Conflicted, Revision, Write } from '../../contract.ts';
import type { Client } from './client.ts';
import { numberOf } from './leases.ts';
import { methods } from './messages/kv.ts';
import { decodeTxn, encodeTxn, isConditional } from './messages/txn.ts';
import type { TxnResponse } from './messages/txn.ts';
import type { Reader } from './reader.ts';
import type { Revisions } from './revisions.ts';
import type { Scope } from './scope.ts';

export interface CommitterOptions {
  client: Client;
  scope: Scope;
  revisions: Revisions;
  reader: Reader;
}

/** With more conditions, a conflict could show more values than fit into one message: they are read afterwards. */
const conflictsWithValuesMax = 32;

export class Committer {
  readonly #options: CommitterOptions;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** The writes were checked already. */
  async commit(writes: readonly Write[]): Promise<CommitResult> {
    const { client, scope, revisions } = this.#options;
    const inside = scope.cutWrites(writes);
    for (const write of inside) if (write.type === 'put' && write.lease !== undefined) numberOf(write.lease);
    const conditions = inside.filter(isConditional);
    const conflictsKeysOnly = conditions.length > conflictsWithValuesMax;
    const response = await client.call({
      method: methods.txn,
      frame: encodeTxn({ writes: inside, conflictsKeysOnly }),
      decode: decodeTxn,
      repeatable: inside.every((write) => write.type === 'check'),
    });
    const { revision, succeeded, deleted } = response;
    revisions.saw(revision);
    if (succeeded) return { committed: true, revision, deleted };
    return this.#conflict(conditions, response, conflictsKeysOnly);
  }

  async #conflict(
    conditions: readonly { key: string; expected: Revision }[],
    { revision, compared }: TxnResponse,
    keysOnly: boolean,
  ): Promise<Conflicted> {
    const conflicts = conditions
      .map(({ key, expected }, place) => ({ key, expected, entry: compared[place] }))
      .filter(({ entry, expected }) => (entry?.modRevision ?? 0) !== expected)
      .map(({ key, entry }) => ({ key, entry }));
    if (!keysOnly) return { committed: false, revision, conflicts };
    const { reader } = this.#options;
    const withValues = conflicts.map(async ({ key, entry }) => ({
      key,
      entry: entry && (await reader.get(key, { atRevision: revision })).entry,
    }));
    return { committed: false, revision, conflicts: await Promise.all(withValues) };
  }
}
