/**
 * Every error of this package. Test the `code`.
 *
 * | code            | meaning                                                                                   |
 * |-----------------|-------------------------------------------------------------------------------------------|
 * | Terminal        | thrown by a reconciler: retries cannot succeed                                             |
 * | ClusterNotFound | the cluster does not exist: its requests are dropped                                       |
 * | ClusterNotOwned | another process owns the cluster: its requests are dropped here                            |
 * | Fenced          | the write was not sent: this process may no longer write to that cluster                   |
 * | ClusterReplaced | the engagement ended because the config changed: queued work waits for the next one             |
 * | CacheNotStarted | a cached read before the cache was started                                                 |
 * | CacheNotSynced  | the cache stopped or timed out before its first list                                       |
 * | NotInCache      | a cached read that only the server can answer                                               |
 * | UnknownIndex    | a read by an index that was not added                                                      |
 * | EngageFailed    | a cluster could not be engaged in time                                                     |
 * | LeadershipLost  | another process is the leader                                                              |
 * | AlreadyOwned    | another object already controls the object                                                 |
 * | InvalidOwner    | an owner that does not exist yet, or is in another namespace                                |
 * | ShutdownTimedOut | runnables of the manager did not stop in time                                             |
 * | Denied          | a webhook handler denied the request                                                       |
 * | InvalidReview   | a webhook received a malformed review                                                       |
 * | CertificateFailed | the certificate or key of a webhook server cannot be read, or do not belong together      |
 * | NotServing      | a webhook server is not started, shuts down, or cannot be reached                           |
 * | InvalidOptions  | invalid options of a controller, source or provider                                        |
 * | Aborted         | the signal of the caller was aborted (from core)                                           |
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
