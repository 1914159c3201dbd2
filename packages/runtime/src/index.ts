/**
 * runtime: controllers for one cluster or many. Read `controller/reconcile.ts` for what is asked of you, `cluster.ts` for what you
 * are given, `clusters/contract.ts` for how there can be many.
 *
 *   cache/            a cluster's objects in memory, up to date
 *   queue/            which requests are next
 *   controller/       sources, predicates, mappings, the loop
 *   manager/          composes controllers, caches, webhooks, health and metrics into a process
 *   leader-election/  one of several processes works
 *   events/ helpers/  what reconcilers write: events, conditions, finalizers, owners
 *   webhooks/         admission and conversion
 *   metrics/          under controller-runtime's names
 *   clusters/         providers, engaging, sharding
 */

export { localCluster } from './cluster.ts';
export type { Cluster, ClusterName } from './cluster.ts';
export type * from './cache/contract.ts';
export type { ReconcileContext, Reconciler, Request, Result } from './controller/reconcile.ts';
export { RuntimeError, terminalError } from './errors.ts';
export type { RuntimeErrorCode } from './errors.ts';
export type * from './queue/contract.ts';
