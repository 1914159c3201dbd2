/** Commands: the operations that change a store, executed one after the other inside a group. */

import type { CommitResult, Lease, LeaseId, Revision, Write } from '../contract.ts';
import type { StoreErrorCode } from '../errors.ts';

export type Command =
  | { readonly type: 'transaction'; readonly writes: readonly Write[] }
  | { readonly type: 'grantLease'; readonly lease: Lease }
  | { readonly type: 'revokeLease'; readonly id: LeaseId }
  /** Marks the history up to `revision` as compacted; the rows are removed by many small `removeObsolete`. */
  | { readonly type: 'compact'; readonly revision: Revision }
  | { readonly type: 'removeObsolete'; readonly rowsMax: number };

/** A row that a command made, without its value, which the command has under `write`. */
export interface Change {
  readonly key: string;
  /** Index of the put in the transaction's writes; −1 for a deletion. */
  readonly write: number;
  readonly createRevision: Revision;
  readonly version: number;
  readonly previousId: number;
}

/** Plain data: it is sent from the writer thread. */
export type Outcome =
  | { readonly result: CommitResult; readonly changes: readonly Change[]; readonly more?: boolean }
  | { readonly error: { readonly code: StoreErrorCode; readonly message: string } };
