/**
 * Every error of starting programs. Test the `code`. What the ownership throws comes through as it is.
 *
 * | code              | meaning                                                                            |
 * |-------------------|------------------------------------------------------------------------------------|
 * | NotSupported      | this system cannot run programs: no bash, or no /proc                              |
 * | WorkDirInUse      | another living process has the work directory                                      |
 * | WorkDirUnsafe     | somebody else could change what is in the work directory                           |
 * | ExecutableMissing | there is no such program, or it may not be executed                                |
 * | AlreadyRunning    | there is one of this cluster and service already                                   |
 * | NoFreePort        | every port of the range is taken                                                   |
 * | InvalidFile       | a file's name is no plain name                                                     |
 * | LeftoverAlive     | what a former life left behind does not end                                        |
 * | Fenced            | the right to run it ends too soon to begin (also the runtime's own: it has ended)  |
 * | StartFailed       | the system refused: too many processes, a full disk; see the cause                 |
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
