/** Errors of this package. */

import { CodedError } from '@hangar/core';

export type FrontDoorErrorCode =
  /** The port is in use, or the address is not one of this machine. */
  | 'ListenFailed'
  /** A network is not in the form ADDRESS or ADDRESS/BITS. */
  | 'InvalidNetwork';

export class FrontDoorError extends CodedError<FrontDoorErrorCode> {}
