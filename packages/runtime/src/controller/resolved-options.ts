/** The options of a controller, checked and completed. */

import { Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { QueueOptions } from '../queue/queue.ts';
import type { ControllerOptions, RawSource } from './options.ts';
import type { Reconciler } from './reconcile.ts';
import { sourcesOf } from './sources.ts';
import type { KindSource } from './sources.ts';

export interface ResolvedOptions {
  readonly name: string;
  readonly sources: readonly KindSource[];
  readonly rawSources: readonly RawSource[];
  readonly reconcile: Reconciler;
  readonly concurrency: number;
  readonly queue: Pick<QueueOptions, 'rateLimit' | 'maxPerCluster' | 'metrics'>;
  readonly priorityOfInitial: number;
  readonly reconcileTimeoutMs: number | undefined;
  readonly reconcileGraceMs: number;
  readonly cacheSyncTimeoutMs: number;
  readonly engageLocal: boolean | undefined;
  readonly engageProviderClusters: boolean;
  readonly clusterFilter: ControllerOptions['clusterFilter'];
  readonly metrics: MetricsRegistry | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Throws `InvalidOptions`. */
export function resolve(options: ControllerOptions): ResolvedOptions {
  const { name, concurrency = 1, reconcileTimeoutMs, metrics, clock = systemClock } = options;
  if (name === '') throw new RuntimeError('InvalidOptions', 'the name of a controller must not be empty');
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RuntimeError(
      'InvalidOptions',
      `controller ${name}: concurrency must be a positive integer, not ${concurrency}`,
    );
  }
  if (reconcileTimeoutMs !== undefined && !(reconcileTimeoutMs > 0)) {
    throw new RuntimeError(
      'InvalidOptions',
      `controller ${name}: reconcileTimeoutMs must be greater than 0, not ${reconcileTimeoutMs}`,
    );
  }
  return {
    name,
    sources: sourcesOf(options),
    rawSources: options.sources ?? [],
    reconcile: options.reconcile,
    concurrency,
    queue: {
      ...(options.rateLimit ? { rateLimit: options.rateLimit } : {}),
      ...(options.maxPerCluster === undefined ? {} : { maxPerCluster: options.maxPerCluster }),
      ...(metrics ? { metrics } : {}),
    },
    priorityOfInitial: options.priorityOfInitial ?? -100,
    reconcileTimeoutMs,
    reconcileGraceMs: options.reconcileGraceMs ?? 5_000,
    cacheSyncTimeoutMs: options.cacheSyncTimeoutMs ?? 120_000,
    engageLocal: options.engageLocal,
    engageProviderClusters: options.engageProviderClusters ?? true,
    clusterFilter: options.clusterFilter,
    metrics,
    log: options.log ?? new Logger({ level: 'info', format: 'text', clock }),
    clock,
    random: options.random ?? systemRandom,
  };
}
