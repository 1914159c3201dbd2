/**
 * Errors of this package. Test the `code`.
 *
 * | code           | meaning                                    |
 * |----------------|--------------------------------------------|
 * | InvalidNetwork | the text is not a network in CIDR notation |
 */

import { CodedError } from '@hangar/core';

export type NodeObjectsErrorCode = 'InvalidNetwork';

export class NodeObjectsError extends CodedError<NodeObjectsErrorCode> {}
