/**
 * Errors of the process runtime. Test the `code`. The codes of containers are the waiting reasons of the kubelet.
 *
 * | code                       | meaning                                                                       |
 * |----------------------------|-------------------------------------------------------------------------------|
 * | NotSupported               | this system cannot run pods: no bash, no mkfifo, or no /proc                  |
 * | FolderInUse                | another living process uses the folder of the runtime                         |
 * | FailedMount                | a volume cannot be set up                                                     |
 * | CreateContainerConfigError | the environment or the arguments of a container refer to missing data         |
 * | CreateContainerError       | a container cannot be created: a port is in use, the system refuses           |
 * | ErrImagePull               | the program of an image is not found                                          |
 * | InvalidImage               | an image layout or archive is damaged                                         |
 * | RunContainerError          | the program of a container cannot be started                                  |
 * | NoAddress                  | all addresses of the range are in use                                         |
 */

import { CodedError } from '@hangar/core';

export type ProcessRuntimeErrorCode =
  | 'NotSupported'
  | 'FolderInUse'
  | 'FailedMount'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'ErrImagePull'
  | 'InvalidImage'
  | 'RunContainerError'
  | 'NoAddress';

export class ProcessRuntimeError extends CodedError<ProcessRuntimeErrorCode> {}
