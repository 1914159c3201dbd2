/**
 * Every error of this package. Test the `code`.
 *
 * | code            | meaning                                                                                   |
 * |-----------------|-------------------------------------------------------------------------------------------|
 * | Terminal        | a reconciler says: asking again will not help                                              |
 * | ClusterNotFound | no such cluster, or it is gone: requests for it are dropped                                |
 * | ClusterNotOwned | another process has it: requests for it are dropped here                                   |
 * | Fenced          | the write was not sent: this process may no longer write to that cluster                   |
 * | ClusterReplaced | why an engagement ended: the same cluster comes again with another config, queued work waits    |
 * | CacheNotStarted | a cached read before its cache runs                                                        |
 * | CacheNotSynced  | the cache was given up before its first list was here                                      |
 * | NotInCache      | a cached read of what its cache was told not to keep: the server has to be asked            |
 * | UnknownIndex    | a read by an index that nobody added                                                       |
 * | EngageFailed    | a cluster could not be engaged in time                                                     |
 * | LeadershipLost  | another process leads now                                                                  |
 * | AlreadyOwned    | another object controls it already                                                         |
 * | InvalidOwner    | an owner that does not exist yet, or in a namespace from where it cannot own                |
 * | ShutdownTimedOut | what the manager runs did not end in time                                                 |
 * | Denied          | a webhook's handler refuses the request                                                    |
 * | InvalidReview   | what a webhook was sent is no review that it can answer                                     |
 * | CertificateFailed | the certificate or key of a webhook server cannot be read, or do not belong together      |
 * | NotServing      | a webhook server is not started yet, is ending, or cannot be reached                        |
 * | InvalidOptions  | a controller, source or provider that cannot be built as it was asked                      |
 * | Aborted         | the caller's signal (core's)                                                               |
 */

import { CodedError } from '@hangar/core';

/** The codes of `RuntimeError`. */
export type RuntimeErrorCode =
  | 'Terminal'
  | 'ClusterNotFound'
  | 'ClusterNotOwned'
  | 'Fenced'
  | 'ClusterReplaced'
  | 'CacheNotStarted'
  | 'CacheNotSynced'
  | 'NotInCache'
  | 'UnknownIndex'
  | 'EngageFailed'
  | 'LeadershipLost'
  | 'AlreadyOwned'
  | 'InvalidOwner'
  | 'ShutdownTimedOut'
  | 'Denied'
  | 'InvalidReview'
  | 'CertificateFailed'
  | 'NotServing'
  | 'InvalidOptions';

/** An error of this package. Its `code` is one of `RuntimeErrorCode`. */
export class RuntimeError extends CodedError<RuntimeErrorCode> {}

/** Returns an error that stops retries: a reconciler throws it when another attempt cannot succeed. */
export const terminalError = (message: string, cause?: unknown): RuntimeError =>
  new RuntimeError('Terminal', message, cause === undefined ? undefined : { cause });
