/**
 * Composition root of the controller manager. Starts, in this order, and stops in reverse order:
 *
 *   the work directory: locked, and cleaned of programs of earlier runs
 *   the status server: alive from now on, ready when the fleet is synced
 *   conditions, the coordinator, the fleet and its dependents
 *
 * When it stops for any reason, all programs have exited, and the clusters are released to the other replicas.
 */

import type { ApiObject } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import { ShardCoordinator, soleOwner } from '@hangar/runtime/clusters';
import type { ControllerManagerReference, Coordinator } from '@hangar/runtime/clusters';
import { newPrograms } from './child/programs.ts';
import { openWorkDir } from './child/work-dir.ts';
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

/** A replica usually joins the others within a second. */
const joinedWithinMs = 30_000;

export interface ControllerManagerWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Stops the controller manager. */
  readonly signal: AbortSignal;
}

export interface RunningControllerManager {
  /** Address of the status server. */
  readonly url: string;
  /** Resolves when the initial state is synced; never if it stops before. */
  readonly synced: Promise<void>;
  /** Resolves when everything is stopped, after the signal. Rejects with the fatal error, after the same. */
  readonly closed: Promise<void>;
  rows(): Iterable<ClusterRow>;
}

/** Rejects when it cannot start: with a UsageError, or with a ProgramError, a ServeError or an error of the system. */
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
  const hasPrograms = engine.controllerManager !== undefined || engine.scheduler !== undefined;
  // Needed without programs as well: it contains the key of the port.
  const workDir = hasPrograms ? undefined : openWorkDir(children.workDirectory);
  const leftCount = hasPrograms ? await programs.cleanUp() : 0;
  if (leftCount > 0) log.warn('stopped child processes of a previous run', { count: leftCount });
  const metrics = new MetricsRegistry();
  const kubeconfigs = kubeconfigsOf({ management: management.client, clock, random, log });
  const controllerManager = controllerManagerOf(options);
  const conditions = new ConditionWriter({ management: management.client, clock, random, log, controllerManager });
  const engines = await enginesOf(options, { ...world, programs, kubeconfigs, metrics, feed: management.feed });
  const synced = Promise.withResolvers<void>();
  const coordinator = coordinatorOf(options, management, { ...world, metrics });
  const registry: Registry = new Registry({
    fleet: fleetOf(options, management, { ...world, conditions }),
    coordinator,
    conditions,
    engineFor: engines.engineFor,
    log,
    onChange: () => registry.isSynced && synced.resolve(),
  });
  const rows = (): Iterable<ClusterRow> => registry.rows();
  new ControllerManagerMetrics(rows).register(metrics);
  const hasJoined = (): boolean => !(coordinator instanceof ShardCoordinator) || coordinator.isMember;
  const served = await serve(options, world, { rows, isSynced: () => registry.isSynced, hasJoined, metrics });
  warnUnlessJoined(options, world, hasJoined);
  const closed = lifetime({ registry, conditions, engines, served, management }, world.signal).finally(() =>
    workDir?.lock.close(),
  );
  return { url: served.url, synced: synced.promise, closed, rows };
}

/** Returns the Leases that the coordinator renews. Undefined: it renews none. */
function controllerManagerOf({ sharing }: ControllerManagerOptions): ControllerManagerReference | undefined {
  const { electsLeader, namespace: leaseNamespace, group: leaseGroup, shard } = sharing;
  return electsLeader ? { leaseNamespace, leaseGroup, ...(shard ? { shard: shard.id } : {}) } : undefined;
}

/** Logs the chosen options, and flags without effect. */
function tellOptions({ engine, sharing, children, unusedFlags }: ControllerManagerOptions, log: Logger): void {
  const { name, why, controllerManager, scheduler } = engine;
  log.info(`using engine ${name}: ${why}`, { controllerManager, scheduler, workDir: children.workDirectory });
  const { electsLeader, namespace, group, peer, shard } = sharing;
  log.info(
    electsLeader
      ? 'sharing clusters with other replicas'
      : 'leader election is off: no other process may serve these clusters',
    { peer, ...(electsLeader ? { namespace, group } : {}), ...(shard ? { shard: shard.id } : {}) },
  );
  if (unusedFlags.length === 0) return;
  const flags = unusedFlags.map((flag) => `--${flag}`);
  log.info('ignoring flags of kube-controller-manager that have no effect', { flags });
}

/** Missing permissions are the usual reason, and are not visible elsewhere. */
function warnUnlessJoined(
  { sharing: { namespace } }: ControllerManagerOptions,
  { clock, log, signal }: ControllerManagerWorld,
  hasJoined: () => boolean,
): void {
  const timer = clock.after(joinedWithinMs, () => {
    if (hasJoined()) return;
    log.warn('no cluster can be served: this replica did not join the shard group; check its permissions on leases', {
      namespace,
      needed: 'get, list, watch, create, update, patch and delete leases.coordination.k8s.io',
    });
  });
  signal.addEventListener('abort', () => timer.cancel(), { once: true });
}

function fleetOf(
  { clusters, sharing }: ControllerManagerOptions,
  { client: management }: Management,
  { clock, random, log, conditions }: ControllerManagerWorld & { readonly conditions: ConditionWriter },
): Fleet {
  // Without sharing there is no coordinator that would filter out the clusters of other shards.
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
  readonly hasJoined: () => boolean;
  readonly metrics: MetricsRegistry;
}

function serve(
  { serving }: ControllerManagerOptions,
  { clock, random, log }: ControllerManagerWorld,
  { rows, isSynced, hasJoined, metrics }: Shown,
): Promise<Served> {
  const { certificateFile: certFile, keyFile, certificateDirectory: certDir } = serving;
  return startServing({
    bindAddress: serving.host,
    port: serving.port,
    certificates: { certFile, keyFile, certDir },
    metricsTokenFile: serving.tokenFile,
    rows,
    isSynced,
    hasJoined,
    ownMetrics: () => metrics.text(),
    clock,
    random,
    log,
  });
}
