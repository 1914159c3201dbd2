/** How a cluster is, for people. */

import type { ClusterName } from '../../cluster.ts';

export const clusterStates = ['discovered', 'opening', 'engaged', 'draining', 'failed', 'unowned'] as const;

/**
 * | state      | meaning                                                                                 |
 * |------------|-----------------------------------------------------------------------------------------|
 * | discovered | known and ours; waits for its turn to be opened                                          |
 * | opening    | being opened, for the first time or again; nothing works on it meanwhile                 |
 * | engaged    | controllers work on it; with a `lastError`: another config of it could not be opened     |
 * | draining   | given up; the last work is ending                                                        |
 * | failed     | could not be opened; waits to be tried again, or for a change if that would not help     |
 * | unowned    | not this process's                                                                       |
 */
export type ClusterState = (typeof clusterStates)[number];

export interface ClusterStatus {
  readonly name: ClusterName;
  readonly state: ClusterState;
  /** Failures in a row. */
  readonly failures: number;
  readonly lastError?: string;
  /** Milliseconds until it is tried again. Absent: it is not waiting, or only for a change. */
  readonly retryInMs?: number;
}
