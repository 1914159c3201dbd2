/** The state of a cluster, for users. */

import type { ClusterName } from '../../cluster.ts';

export const clusterStates = ['discovered', 'opening', 'engaged', 'draining', 'failed', 'unowned'] as const;

/**
 * | state      | meaning                                                                                    |
 * |------------|--------------------------------------------------------------------------------------------|
 * | discovered | discovered and owned; waits to be opened                                                   |
 * | opening    | being opened, for the first time or again; no work runs on it                              |
 * | engaged    | controllers work on it; with a `lastError`: a new configuration could not be opened        |
 * | draining   | released; running work finishes                                                            |
 * | failed     | could not be opened; waits for a retry, or for a change after a terminal error             |
 * | unowned    | not owned by this process                                                                  |
 */
export type ClusterState = (typeof clusterStates)[number];

/** State of one cluster of the engine. */
export interface ClusterStatus {
  readonly name: ClusterName;
  readonly state: ClusterState;
  /** Number of consecutive failures. */
  readonly failures: number;
  readonly lastError?: string;
  /** Milliseconds until the next attempt. Absent: no attempt is scheduled. */
  readonly retryInMs?: number;
}
