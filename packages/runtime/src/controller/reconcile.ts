/** What a controller is asked to do: make the world be as one object says. */

import type { Client, ObjectKey } from '@hangar/client';
import type { Logger } from '@hangar/core';
import type { Cluster, ClusterName } from '../cluster.ts';

/** Which object, where. The local cluster is ''. */
export interface Request extends ObjectKey {
  readonly cluster: ClusterName;
}

/** Nothing: done. */
export interface Result {
  /** Look again then, or before when something happens: then this look is over, too. Failures are forgotten. */
  readonly requeueAfterMs?: number;
  /** Look again soon, with back-off. */
  readonly requeue?: boolean;
  /** Of the next look. */
  readonly priority?: number;
}

export interface ReconcileContext {
  readonly cluster: Cluster;
  /** The cluster's own. */
  readonly client: Client;
  /** Fires when the cluster is given up, the manager stops, or the reconcile takes too long: what is under way should end. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Rejections are retried with back-off, those with the code `Terminal` are not. Never called for two equal requests at once.
 */
export type Reconciler = (request: Request, context: ReconcileContext) => Promise<Result | void> | Result | void;
