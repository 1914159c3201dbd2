/** The errors of targets. */

import { CodedError } from '@hangar/core';

/**
 * `NotFound`: the control plane does not exist. `AlreadyExists`: the name is in use. `NotReady`: try again later. `Refused`: the call never
 * succeeds with these arguments.
 */
export class TargetError extends CodedError<'NotFound' | 'AlreadyExists' | 'NotReady' | 'Refused'> {}
