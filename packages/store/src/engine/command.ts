/** What is committed: the few things that change a store, executed one after the other inside a group. */

import type { CommitResult, Lease, LeaseId, Revision, Write } from '../contract.ts';
import type { StoreErrorCode } from '../errors.ts';

export type Command =
  | { readonly type: 'transaction'; readonly writes: readonly Write[] }
  | { readonly type: 'grantLease'; readonly lease: Lease }
  | { readonly type: 'revokeLease'; readonly id: LeaseId }
  /** Declares the history up to `revision` gone; removing the rows is a matter of many small `removeObsolete`. */
  | { readonly type: 'compact'; readonly revision: Revision }
  | { readonly type: 'removeObsolete'; readonly rowsMax: number };

/** A row that a command made, without its value: whoever holds the command has that under `write`. */
export interface Change {
  readonly key: string;
  /** The place of the put in the transaction's writes; −1 for a deletion. */
  readonly write: number;
  readonly createRevision: Revision;
  readonly version: number;
  readonly previousId: number;
}

/** Plain data: it crosses from the writer's thread. */
export type Outcome =
  | { readonly result: CommitResult; readonly changes: readonly Change[]; readonly more?: boolean }
  | { readonly error: { readonly code: StoreErrorCode; readonly message: string } };
