/**
 * Every error that the store's contract allows. Test the `code`.
 *
 * | code              | meaning                                                                    | the commit happened? |
 * |-------------------|----------------------------------------------------------------------------|----------------------|
 * | InvalidKey        | empty, too long, a control character, or not well-formed Unicode            | no                   |
 * | InvalidRequest    | a malformed transaction, range, lease or option                            | no                   |
 * | ValueTooLarge     | a value, or a transaction's keys and values together, over 1.5 MiB          | no                   |
 * | Compacted         | the requested revision is no longer in the history                         | –                    |
 * | FutureRevision    | the requested revision does not exist yet                                  | –                    |
 * | LeaseNotFound     | the lease expired, was revoked or never existed                            | no                   |
 * | Overloaded        | too many commits are waiting; try again later                              | no                   |
 * | StorageFull       | no space left; reads continue, writes succeed when space is available      | no                   |
 * | StorageReadOnly   | the disk or file refuses writes                                            | no                   |
 * | StorageFailed     | the disk failed during the commit                                          | perhaps              |
 * | StorageDamaged    | a file is truncated or damaged; the message says which, and what to do     | –                    |
 * | StorageInUse      | another process has the data directory open                                | –                    |
 * | Unavailable       | the etcd cluster does not answer, or has no leader                         | perhaps              |
 * | Unauthenticated   | the etcd cluster refuses the credentials                                   | no                   |
 * | Unsupported       | the driver cannot restore or skip revisions                                | no                   |
 * | Fenced            | the owner of a layered view was deleted or recreated                       | no                   |
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
  | 'Unsupported'
  | 'Fenced'
  | 'ImportFailed'
  | 'Closed';

export class StoreError extends CodedError<StoreErrorCode> {}

/** Includes the start of the history, so that a watcher can list again from there. */
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

/** Converts the error of a disk to a store error. */
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
