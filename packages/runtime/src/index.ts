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
export * from './cache/index.ts';
export * from './controller/index.ts';
export { newCluster } from './new-cluster.ts';
export type { NewClusterOptions } from './new-cluster.ts';
export { RuntimeError, terminalError } from './errors.ts';
export type { RuntimeErrorCode } from './errors.ts';
export type * from './queue/contract.ts';
export { Queue } from './queue/queue.ts';
export type { QueueOptions } from './queue/queue.ts';
export type { RateLimit } from './queue/rate-limit.ts';
export * from './helpers/index.ts';
export * from './leader-election/index.ts';
export { MetricsRegistry } from './metrics/registry.ts';
export type { MetricFamily } from './metrics/registry.ts';
export * from './events/index.ts';
export * from './manager/index.ts';
/** For `log` and `clock`, which everything takes. */
export { Logger, systemClock } from '@hangar/core';
export type { Clock, LogFormat, LogLevel } from '@hangar/core';
