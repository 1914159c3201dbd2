/**
 * Every error of this package. Test the `code`.
 *
 * | code            | meaning                                                                                   |
 * |-----------------|-------------------------------------------------------------------------------------------|
 * | Terminal        | a reconciler says: asking again will not help                                              |
 * | ClusterNotFound | no such cluster, or it is gone: requests for it are dropped                                |
 * | ClusterNotOwned | another process has it: requests for it are dropped here                                   |
 * | Fenced          | the write was not sent: this process may no longer write to that cluster                   |
 * | CacheNotStarted | a cached read before its cache runs                                                        |
 * | CacheNotSynced  | the cache was given up before its first list was here                                      |
 * | UnknownIndex    | a read by an index that nobody added                                                       |
 * | EngageFailed    | a cluster could not be engaged in time                                                     |
 * | LeadershipLost  | another process leads now                                                                  |
 * | InvalidOptions  | a controller, source or provider that cannot be built as it was asked                      |
 * | Aborted         | the caller's signal (core's)                                                               |
 */

import { CodedError } from '@hangar/core';

export type RuntimeErrorCode =
  | 'Terminal'
  | 'ClusterNotFound'
  | 'ClusterNotOwned'
  | 'Fenced'
  | 'CacheNotStarted'
  | 'CacheNotSynced'
  | 'UnknownIndex'
  | 'EngageFailed'
  | 'LeadershipLost'
  | 'InvalidOptions';

export class RuntimeError extends CodedError<RuntimeErrorCode> {}

/** For reconcilers: this will not get better by being tried again. */
export const terminalError = (message: string, cause?: unknown): RuntimeError =>
  new RuntimeError('Terminal', message, cause === undefined ? undefined : { cause });
