/**
 * The controller manager, put together. What is started, in this order, and ended in the other one:
 *
 *   the work directory is this process's, and nothing of a former life runs any more
 *   what it shows is served: alive from now on, ready when the fleet is known
 *   conditions, the coordinator, the fleet and what it leads to
 *
 * Whatever ends it, nothing of what it runs is left then, and other replicas have been told that they may have the clusters.
 */

import type { ApiObject } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import { ShardCoordinator, soleOwner } from '@hangar/runtime/clusters';
import type { Coordinator } from '@hangar/runtime/clusters';
import { newPrograms } from './child/programs.ts';
import { ConditionWriter } from './conditions/index.ts';
import type { ClusterRow, Fleet } from './contract.ts';
import { enginesOf } from './engines.ts';
import { endpointFleet, kubeconfigsOf, registrationFleet } from './fleet/index.ts';
import { lifetime } from './lifetime.ts';
import { connectManagement } from './management.ts';
import type { Management } from './management.ts';
import type { ControllerManagerOptions } from './options/options.ts';
import { Registry } from './registry/registry.ts';
import { ControllerManagerMetrics, startServing } from './serve/index.ts';
import type { Served } from './serve/index.ts';

export interface ControllerManagerWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Asks it to end. */
  readonly signal: AbortSignal;
}

export interface RunningControllerManager {
  /** Where it shows itself. */
  readonly url: string;
  /** Resolves when everything that there was at first is known; never if it ends before. */
  readonly synced: Promise<void>;
  /** Resolves when nothing of it is left, after the signal. Rejects with why it could not go on, after the same. */
  readonly closed: Promise<void>;
  rows(): Iterable<ClusterRow>;
}

/** Rejects when it cannot begin: with a UsageError, or with a ProgramError, a ServeError or an error of the system. */
export async function startControllerManager(
  options: ControllerManagerOptions,
  world: ControllerManagerWorld,
): Promise<RunningControllerManager> {
  const management = await connectManagement(options, world);
  try {
    return await started(options, world, management);
  } catch (error) {
    await management.close();
    throw error;
  }
}

async function started(
  options: ControllerManagerOptions,
  world: ControllerManagerWorld,
  management: Management,
): Promise<RunningControllerManager> {
  const { clock, random, log } = world;
  const { engine, children } = options;
  tellOptions(options, log);
  const programs = newPrograms({ workDir: children.workDirectory, ports: children.ports, clock, log });
  if (engine.controllerManager !== undefined || engine.scheduler !== undefined) {
    const leftCount = await programs.cleanUp();
    if (leftCount > 0) log.warn('programs of a former life were ended', { count: leftCount });
  }
  const metrics = new MetricsRegistry();
  const kubeconfigs = kubeconfigsOf({ management: management.client, clock, random, log });
  const conditions = new ConditionWriter({ management: management.client, clock, random, log });
  const engines = await enginesOf(options, { ...world, programs, kubeconfigs, metrics, feed: management.feed });
  const synced = Promise.withResolvers<void>();
  const registry: Registry = new Registry({
    fleet: fleetOf(options, management, { ...world, conditions }),
    coordinator: coordinatorOf(options, management, { ...world, metrics }),
    conditions,
    engineFor: engines.engineFor,
    log,
    onChange: () => registry.isSynced && synced.resolve(),
  });
  const rows = (): Iterable<ClusterRow> => registry.rows();
  new ControllerManagerMetrics(rows).register(metrics);
  const served = await serve(options, world, { rows, isSynced: () => registry.isSynced, metrics });
  const closed = lifetime({ registry, conditions, engines, served, management }, world.signal);
  return { url: served.url, synced: synced.promise, closed, rows };
}

/** For who reads the log: what was chosen, and what has no effect. */
function tellOptions({ engine, sharing, children, unusedFlags }: ControllerManagerOptions, log: Logger): void {
  const { name, why, controllerManager, scheduler } = engine;
  log.info(`the engine is ${name}: ${why}`, { controllerManager, scheduler, workDir: children.workDirectory });
  const { electsLeader, namespace, group, peer, shard } = sharing;
  log.info(
    electsLeader
      ? 'clusters are shared with other replicas'
      : 'this process is alone: no other may serve these clusters',
    { peer, ...(electsLeader ? { namespace, group } : {}), ...(shard ? { shard: shard.id } : {}) },
  );
  if (unusedFlags.length === 0) return;
  const flags = unusedFlags.map((flag) => `--${flag}`);
  log.info('flags of kube-controller-manager that have no effect here', { flags });
}

function fleetOf(
  { clusters, sharing }: ControllerManagerOptions,
  { client: management }: Management,
  { clock, random, log, conditions }: ControllerManagerWorld & { readonly conditions: ConditionWriter },
): Fleet {
  // Who is alone has no coordinator that would leave out what is another shard's.
  const ofShard = sharing.electsLeader ? undefined : sharing.shard?.selector;
  const selector = [clusters.selector, ofShard].filter(Boolean).join(',');
  const { namespaceScope, secretTemplate } = clusters;
  const onSeen = (object: ApiObject): void => conditions.observe(object);
  const common = { management, selector, namespaceScope, clock, random, log, onSeen };
  return clusters.source === 'registration' ? registrationFleet(common) : endpointFleet({ ...common, secretTemplate });
}

function coordinatorOf(
  { sharing }: ControllerManagerOptions,
  { leases: client }: Management,
  { clock, random, log, metrics }: ControllerManagerWorld & { readonly metrics: MetricsRegistry },
): Coordinator {
  const { electsLeader, namespace, group, peer, shard, timings } = sharing;
  if (!electsLeader) return soleOwner;
  const common = { client, namespace, group, peer, timings, metrics, clock, random, log };
  return new ShardCoordinator(shard ? { ...common, shard } : common);
}

interface Shown {
  readonly rows: () => Iterable<ClusterRow>;
  readonly isSynced: () => boolean;
  readonly metrics: MetricsRegistry;
}

function serve(
  { serving }: ControllerManagerOptions,
  { clock, random, log }: ControllerManagerWorld,
  { rows, isSynced, metrics }: Shown,
): Promise<Served> {
  const { certificateFile: certFile, keyFile, certificateDirectory: certDir } = serving;
  return startServing({
    bindAddress: serving.host,
    port: serving.port,
    certificates: { certFile, keyFile, certDir },
    metricsTokenFile: serving.tokenFile,
    rows,
    isSynced,
    ownMetrics: () => metrics.text(),
    clock,
    random,
    log,
  });
}
