/**
 * Errors of starting programs. Test the `code`. Errors of the ownership are passed through.
 *
 * | code              | meaning                                                                     |
 * |-------------------|-----------------------------------------------------------------------------|
 * | NotSupported      | this system cannot run programs: no bash, or no /proc                       |
 * | WorkDirInUse      | another living process uses the work directory                              |
 * | WorkDirUnsafe     | another user can write to the work directory                                |
 * | ExecutableMissing | the program does not exist, or is not executable                            |
 * | AlreadyRunning    | a program of this cluster and service is running                            |
 * | NoFreePort        | every port of the range is in use                                           |
 * | InvalidFile       | a file name is not a plain name                                             |
 * | LeftoverAlive     | a program of an earlier run cannot be killed                                |
 * | Fenced            | ownership expires too soon to start (also from the runtime: it has expired) |
 * | StartFailed       | the system refused: too many processes, a full disk; see the cause          |
 */

import { CodedError } from '@hangar/core';

export type ProgramErrorCode =
  | 'NotSupported'
  | 'WorkDirInUse'
  | 'WorkDirUnsafe'
  | 'ExecutableMissing'
  | 'AlreadyRunning'
  | 'NoFreePort'
  | 'InvalidFile'
  | 'LeftoverAlive'
  | 'Fenced'
  | 'StartFailed';

export class ProgramError extends CodedError<ProgramErrorCode> {}
