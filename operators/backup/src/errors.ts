/** The errors of targets, and of references to Secrets and folders. */

import { CodedError } from '@hangar/core';

/**
 * `NotFound`: the control plane does not exist. `AlreadyExists`: the name is in use. `NotReady`: try again later. `Refused`: the call never
 * succeeds with these arguments.
 */
export class TargetError extends CodedError<'NotFound' | 'AlreadyExists' | 'NotReady' | 'Refused'> {}

/**
 * A reference of an object that a user must correct. The code is the reason of the condition.
 *
 * | code                   | meaning                                                                     |
 * |------------------------|-----------------------------------------------------------------------------|
 * | ReferenceNotAllowed    | the namespace may not back up or restore a control plane of this kind       |
 * | SecretNotFound         | a referenced Secret does not exist                                          |
 * | SecretNotAllowed       | a Secret of another namespace does not allow this namespace                 |
 * | SecretInvalid          | a referenced Secret lacks a key, or its value is malformed                  |
 * | DestinationInvalid     | the address of a destination is malformed                                   |
 * | FolderNotAvailable     | the operator has no folder for backups, or it cannot be used                |
 * | ScheduleInvalid        | a cron expression or a time zone is malformed                               |
 * | BackupNotFound         | the ControlPlaneBackup of a restore does not exist                          |
 * | BackupNotComplete      | the ControlPlaneBackup of a restore failed or is being deleted              |
 * | BackupChanged          | the stored bytes are not those of the ControlPlaneBackup                    |
 */
export class ReferenceFault extends CodedError<
  | 'ReferenceNotAllowed'
  | 'SecretNotFound'
  | 'SecretNotAllowed'
  | 'SecretInvalid'
  | 'DestinationInvalid'
  | 'FolderNotAvailable'
  | 'ScheduleInvalid'
  | 'BackupNotFound'
  | 'BackupNotComplete'
  | 'BackupChanged'
> {}
