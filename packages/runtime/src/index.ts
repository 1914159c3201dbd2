/**
 * @hangar/runtime runs controllers for one cluster or for many. Start with `newManager`; `controller/reconcile.ts` has the reconciler,
 * and `clusters/contract.ts` has providers of many clusters.
 *
 *     const manager = await newManager({ leaderElection: { namespace: 'websites', name: 'website-operator' } });
 *     manager.controller({
 *       name: 'website',
 *       for: Website,
 *       owns: [Deployment],
 *       reconcile: async (request, { client, signal }) => {
 *         const website = await find(client, Website, request, { signal });
 *         if (website) await client.apply(Deployment, deploymentOf(website), { fieldManager: 'website', signal });
 *       },
 *     });
 *     await manager.run(signals());
 *
 * The folders:
 *
 *   cache/            objects of a cluster in memory, kept up to date by watches
 *   queue/            work queue with priorities, rate limits and fairness between clusters
 *   controller/       sources, predicates, mappings, workers
 *   manager/          composes controllers, caches, webhooks, health checks and metrics into a process
 *   leader-election/  elects one of several processes
 *   events/ helpers/  Events, conditions, finalizers, owner references
 *   webhooks/         admission and conversion
 *   metrics/          metrics under the names of controller-runtime
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
export { alertRuleGroups } from './metrics/alert-rules.ts';
export type { Alert, AlertGroup } from './metrics/alert-rules.ts';
export { MetricsRegistry } from './metrics/registry.ts';
export type { MetricFamily } from './metrics/registry.ts';
export { ObjectGauge } from './metrics/object-gauge.ts';
export type { GaugeSeries } from './metrics/object-gauge.ts';
export { exponentialBounds, TimingFamily } from './metrics/timings.ts';
export type { TimingSeries } from './metrics/timings.ts';
export * from './events/index.ts';
export * from './manager/index.ts';
/** For the options `log` and `clock`. */
export { Logger, systemClock } from '@hangar/core';
export type { Clock, LogFormat, LogLevel } from '@hangar/core';
