/** Frames of a snapshot for tests of the writer. */

import type { Random } from '@hangar/core';
import type { LeaseId, Revision } from '../../../../contract.ts';
import { compareKeys } from '../../../../keys.ts';
import type { ReplicaEntry, ReplicaFrame } from '../../../../replication/frames.ts';

export async function* framesOf(
  entries: readonly ReplicaEntry[],
  revision: number,
): AsyncGenerator<ReplicaFrame, void, void> {
  for (const entry of entries.toSorted((a, b) => compareKeys(a.key, b.key))) yield { type: 'entry', entry };
  yield { type: 'snapshot', revision: revision as Revision };
}

export interface EntryFields {
  readonly key: string;
  readonly value: Uint8Array;
  readonly modRevision: number;
  readonly createRevision?: number;
  readonly version?: number;
  readonly lease?: { readonly id: string; readonly ttlMs: number };
}

export const entryOf = ({
  key,
  value,
  modRevision,
  createRevision,
  version = 1,
  lease,
}: EntryFields): ReplicaEntry => ({
  key,
  value,
  version,
  modRevision: modRevision as Revision,
  createRevision: (createRevision ?? modRevision) as Revision,
  ...(lease && { lease: { id: lease.id as LeaseId, ttlMs: lease.ttlMs } }),
});

/** Entries as a shared store has them: revisions with gaps, several in one transaction, some with leases. */
export function randomEntries(random: Random, count: number, valueBytesMax: number): ReplicaEntry[] {
  let revision = 1;
  return Array.from({ length: count }, () => {
    // One of four is in the transaction of the one before it.
    if (revision === 1 || random.below(4) > 0) revision += 1 + random.below(50);
    const key = `${['pods', 'secrets', 'events'][random.below(3)]}/${Buffer.from(random.bytes(6)).toString('hex')}`;
    const createRevision = random.below(2) === 0 ? revision : 1 + random.below(revision);
    return entryOf({
      key,
      createRevision,
      modRevision: revision,
      version: createRevision === revision ? 1 : 2 + random.below(1_000),
      value: random.bytes(random.below(valueBytesMax)),
      ...(key.startsWith('events/') && {
        lease: { id: (0x10_0000_0000_0000 + random.below(20)).toString(16), ttlMs: 3_600_000 },
      }),
    });
  });
}
