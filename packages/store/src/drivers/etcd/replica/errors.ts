/**
 * Every error of `apply` that is not a StoreError. Test the `code`.
 *
 * | code          | meaning                                                                       | what to do                      |
 * |---------------|-------------------------------------------------------------------------------|---------------------------------|
 * | GapTooLarge   | more revisions are missing than can be written in reasonable time             | make etcd from a new snapshot   |
 * | Diverged      | others wrote to etcd, or its content differs from that of the source          | make etcd from a new snapshot   |
 * | OutOfOrder    | a frame before this one was not applied                                        | read frames after the position  |
 * | BatchTooLarge | the limits of etcd (`--max-txn-ops`, `--max-request-bytes`) are too low         | start etcd with higher limits   |
 */

import { CodedError } from '@hangar/core';

export type EtcdReplicaErrorCode = 'GapTooLarge' | 'Diverged' | 'OutOfOrder' | 'BatchTooLarge';

export class EtcdReplicaError extends CodedError<EtcdReplicaErrorCode> {}
