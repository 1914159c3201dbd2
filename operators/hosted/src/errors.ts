/**
 * Errors of this package. Test the `code`.
 *
 * | code               | meaning                                                        |
 * |--------------------|----------------------------------------------------------------|
 * | InvalidVersion     | the text is not a version of Kubernetes                        |
 * | InvalidNetwork     | a network of the Cluster is not valid                          |
 */

import { CodedError } from '@hangar/core';

export type HostedErrorCode = 'InvalidVersion' | 'InvalidNetwork';

export class HostedError extends CodedError<HostedErrorCode> {}
