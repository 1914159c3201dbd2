/**
 * Errors of this package. Test the `code`.
 *
 * | code               | meaning                                                        |
 * |--------------------|----------------------------------------------------------------|
 * | InvalidVersion     | the text is not a version of Kubernetes                        |
 */

import { CodedError } from '@hangar/core';

export type HostedErrorCode = 'InvalidVersion';

export class HostedError extends CodedError<HostedErrorCode> {}
