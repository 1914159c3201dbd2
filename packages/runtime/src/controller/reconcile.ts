/**
 * The reconciler: a function that brings the cluster to the desired state of one object.
 *
 *     const reconcile: Reconciler = async ({ namespace, name }, { client, signal, log }) => {
 *       const widget = await find(client, Widget, { namespace, name }, { signal });
 *       if (!widget) return;
 *       await client.apply(Deployment, deploymentOf(widget), { fieldManager: 'widget-operator', signal });
 *       log.info('applied the Deployment');
 *     };
 */

import type { Client, ObjectKey } from '@hangar/client';
import type { Logger } from '@hangar/core';
import type { Cluster, ClusterName } from '../cluster.ts';

/** Identifies an object and its cluster. The local cluster is ''. */
export interface Request extends ObjectKey {
  readonly cluster: ClusterName;
}

/** The result of a successful reconcile. Without fields: done. */
export interface Result {
  /** Requeues the request after this delay; an earlier event cancels the delay. Resets the back-off. */
  readonly requeueAfterMs?: number;
  /** Requeues the request with back-off. */
  readonly requeue?: boolean;
  /** Priority of the requeued request. */
  readonly priority?: number;
}

/** The environment of one reconcile. */
export interface ReconcileContext {
  /** The cluster of the request. */
  readonly cluster: Cluster;
  /** The client of the cluster: `cluster.client`. */
  readonly client: Client;
  /**
   * Aborted when the process no longer owns the cluster, the manager stops, or the reconcile exceeds its timeout. The reconciler should
   * then return.
   */
  readonly signal: AbortSignal;
  /** Logger with the fields of the request. */
  readonly log: Logger;
}

/**
 * Reconciles one object. A rejection is retried with back-off, unless its code is `Terminal` (see `terminalError`). A controller never
 * runs two reconciles of the same request at the same time.
 */
export type Reconciler = (request: Request, context: ReconcileContext) => Promise<Result | void> | Result | void;
