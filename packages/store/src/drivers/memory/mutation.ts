/** The changes that a journal holds: enough to rebuild the tables by applying them again, in order. */

import { unreachable } from '@hangar/core';
import type { Lease, LeaseId, Revision } from '../../contract.ts';
import type { ByteReader, ByteWriter } from '../../bytes.ts';
import { StoreError } from '../../errors.ts';
import type { Row } from '../../engine/rows.ts';

export type Mutation =
  | { readonly type: 'append'; readonly row: Row }
  | { readonly type: 'addLease'; readonly lease: Lease }
  | { readonly type: 'removeLease'; readonly id: LeaseId }
  | { readonly type: 'compact'; readonly revision: Revision }
  | { readonly type: 'removeRow'; readonly id: number };

const tags = { append: 1, addLease: 2, removeLease: 3, compact: 4, removeRow: 5, appendRestored: 6 } as const;

export function encodeMutation(out: ByteWriter, mutation: Mutation): void {
  const isRestored = mutation.type === 'append' && mutation.row.modRevision !== undefined;
  out.uint(isRestored ? tags.appendRestored : tags[mutation.type]);
  switch (mutation.type) {
    case 'append': {
      const { row } = mutation;
      out
        .uint(row.id)
        .uint(row.revision)
        .string(row.key)
        .uint(row.value ? 1 : 0);
      if (row.value) out.bytes(row.value);
      out
        .uint(row.createRevision)
        .uint(row.version)
        .string(row.lease ?? '')
        .uint(row.previousId);
      if (row.modRevision !== undefined) out.uint(row.modRevision);
      break;
    }
    case 'addLease':
      out.string(mutation.lease.id).uint(mutation.lease.ttlMs);
      break;
    case 'removeLease':
      out.string(mutation.id);
      break;
    case 'compact':
      out.uint(mutation.revision);
      break;
    case 'removeRow':
      out.uint(mutation.id);
      break;
    default:
      unreachable(mutation);
  }
}

export function decodeMutation(from: ByteReader): Mutation {
  const tag = from.uint();
  switch (tag) {
    case tags.append:
    case tags.appendRestored: {
      const [id, revision, key] = [from.uint(), from.uint() as Revision, from.string()];
      const value = from.uint() === 1 ? from.bytes() : undefined;
      const [createRevision, version] = [from.uint() as Revision, from.uint()];
      const lease = (from.string() || undefined) as LeaseId | undefined;
      const previousId = from.uint();
      const modRevision = tag === tags.appendRestored ? (from.uint() as Revision) : undefined;
      return {
        type: 'append',
        row: { id, revision, key, value, createRevision, modRevision, version, lease, previousId },
      };
    }
    case tags.addLease:
      return { type: 'addLease', lease: { id: from.string() as LeaseId, ttlMs: from.uint() } };
    case tags.removeLease:
      return { type: 'removeLease', id: from.string() as LeaseId };
    case tags.compact:
      return { type: 'compact', revision: from.uint() as Revision };
    case tags.removeRow:
      return { type: 'removeRow', id: from.uint() };
    default:
      throw new StoreError('StorageDamaged', `the journal holds a change of unknown kind ${tag}`);
  }
}
