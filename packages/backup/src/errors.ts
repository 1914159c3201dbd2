/**
 * Every error of backups. Test the `code`.
 *
 * | code               | meaning                                                                              | retry helps |
 * |--------------------|--------------------------------------------------------------------------------------|-------------|
 * | NotABackup         | the bytes do not begin like a backup                                                 | no          |
 * | UnsupportedVersion | a later version of Hangar made the backup                                            | no          |
 * | Truncated          | the backup stops before its trailer, or is shorter than its manifest states          | no          |
 * | Corrupted          | a checksum or an authentication tag does not match                                   | no          |
 * | KeyRequired        | the backup is encrypted, and no key is given                                         | no          |
 * | WrongKey           | the backup is encrypted with another key                                             | no          |
 * | NotEncrypted       | a key is given, and the backup is not encrypted                                      | no          |
 * | InvalidKey         | the text of a key is not 32 bytes in base64 or hexadecimal notation                  | no          |
 * | InvalidName        | the name of a backup, a prefix or an address is malformed                            | no          |
 * | NotFound           | the destination has no complete backup of this name                                  | no          |
 * | AlreadyExists      | the destination has a backup of this name                                            | no          |
 * | TooLarge           | the stream is longer than a destination can store                                    | no          |
 * | AccessDenied       | the destination refuses the credentials, or they permit too little                   | no          |
 * | CredentialsExpired | the credentials were valid and have expired                                          | no          |
 * | BucketNotFound     | the bucket or folder does not exist                                                  | no          |
 * | StorageFull        | no space is left, or a quota is exceeded                                             | no          |
 * | Unavailable        | the destination does not answer, is overloaded or closes connections, also on retry  | later       |
 * | StorageFailed      | the destination refuses a request for another reason                                 | no          |
 */

import { CodedError } from '@hangar/core';

export type BackupErrorCode =
  | 'NotABackup'
  | 'UnsupportedVersion'
  | 'Truncated'
  | 'Corrupted'
  | 'KeyRequired'
  | 'WrongKey'
  | 'NotEncrypted'
  | 'InvalidKey'
  | 'InvalidName'
  | 'NotFound'
  | 'AlreadyExists'
  | 'TooLarge'
  | 'AccessDenied'
  | 'CredentialsExpired'
  | 'BucketNotFound'
  | 'StorageFull'
  | 'Unavailable'
  | 'StorageFailed';

export class BackupError extends CodedError<BackupErrorCode> {}
