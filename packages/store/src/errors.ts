/**
 * Every error that the store's contract allows. Test the `code`.
 *
 * | code              | meaning                                                                    | the commit happened? |
 * |-------------------|----------------------------------------------------------------------------|----------------------|
 * | InvalidKey        | empty, too long, a control character, or not well-formed Unicode            | no                   |
 * | InvalidRequest    | a malformed transaction, range, lease or option                            | no                   |
 * | ValueTooLarge     | a value, or a transaction's keys and values together, over 1.5 MiB          | no                   |
 * | Compacted         | the revision asked for is no longer in the history                         | –                    |
 * | FutureRevision    | the revision asked for has not been yet                                    | –                    |
 * | LeaseNotFound     | the lease ended or never was                                               | no                   |
 * | Overloaded        | too many commits are waiting; try again later                              | no                   |
 * | StorageFull       | no space left; reads go on, writes succeed again when space returns        | no                   |
 * | StorageReadOnly   | the disk or file refuses writes                                            | no                   |
 * | StorageFailed     | the disk failed during the commit                                          | perhaps              |
 * | StorageDamaged    | a file is truncated or damaged; the message says which, and what to do     | –                    |
 * | StorageInUse      | another process has the data directory open                                | –                    |
 * | Unavailable       | the etcd cluster does not answer, or has no leader                         | perhaps              |
 * | Unauthenticated   | the etcd cluster refuses the credentials                                   | no                   |
 * | Fenced            | what a layered view writes for is gone or was made anew                    | no                   |
 * | ImportFailed      | the stream is damaged, truncated, or the target is not empty               | no                   |
 * | Closed            | the store was closed                                                       | no                   |
 */

import { asError, CodedError } from '@hangar/core';
import type { Revision } from './contract.ts';

export type StoreErrorCode =
  | 'InvalidKey'
  | 'InvalidRequest'
  | 'ValueTooLarge'
  | 'Compacted'
  | 'FutureRevision'
  | 'LeaseNotFound'
  | 'Overloaded'
  | 'StorageFull'
  | 'StorageReadOnly'
  | 'StorageFailed'
  | 'StorageDamaged'
  | 'StorageInUse'
  | 'Unavailable'
  | 'Unauthenticated'
  | 'Fenced'
  | 'ImportFailed'
  | 'Closed';

export class StoreError extends CodedError<StoreErrorCode> {}

/** Carries where the history begins, so that a watcher knows from where it can list again. */
export class CompactedError extends StoreError {
  readonly compactedRevision: Revision;

  constructor(asked: Revision, compactedRevision: Revision) {
    super('Compacted', `revision ${asked} has been compacted: the history starts after revision ${compactedRevision}`);
    this.compactedRevision = compactedRevision;
  }
}

export function futureRevision(asked: Revision, current: Revision): StoreError {
  return new StoreError('FutureRevision', `revision ${asked} is in the future: the current revision is ${current}`);
}

/** What a disk's refusal means for whoever wanted to write. */
export function storageError(error: unknown, what: string): StoreError {
  const code = (error as NodeJS.ErrnoException).code;
  const cause = { cause: error };
  if (code === 'ENOSPC' || code === 'EDQUOT') return new StoreError('StorageFull', `${what}: no space left`, cause);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new StoreError('StorageReadOnly', `${what}: the file system is read-only or access is denied`, cause);
  }
  return new StoreError('StorageFailed', `${what}: ${asError(error).message}`, cause);
}

export function closed(): StoreError {
  return new StoreError('Closed', 'the store is closed');
}
