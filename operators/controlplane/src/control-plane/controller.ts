/**
 * The controller of ControlPlanes: its watches, and the objects that they enqueue. It watches the management plane and the host; changes
 * inside tenants are reported by some hosts.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import type { Clock, Failpoints, Logger, Random } from '@hangar/core';
import { kindOptions, labelled } from '@hangar/runtime';
import type { Cluster, ControllerOptions, KindOptions, Manager, Predicate, RequestLike } from '@hangar/runtime';
import { addonNamespace } from '../addons/bundles.ts';
import { Drift } from '../addons/drift.ts';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint, labels } from '../api/index.ts';
import { authorityChanges } from '../host/authority-changes.ts';
import type { TenantHost } from '../host/index.ts';
import { HostFacts } from '../join/host-facts.ts';
import { AddonResync } from '../dedicated/addon-resync.ts';
import { HostedControlPlanes } from '../dedicated/hosted-control-planes.ts';
import type { DedicatedPlatform } from '../dedicated/platform.ts';
import { migrationController } from '../migration/controller.ts';
import type { MigrationPlatform } from '../migration/controller.ts';
import { Routes } from '../gateway/routes.ts';
import { definitionCache } from '../gateway/tls-route.ts';
import { byClass, byEndpoint, controlPlaneIndexes } from './indexes.ts';
import { controlPlaneReconciler } from './reconcile.ts';
import { tenantEvents } from './tenants.ts';
import { Writes } from './writes.ts';

export interface ControlPlaneControllerOptions {
  /** Reads from the management plane itself, without a cache. */
  readonly management: Client;
  readonly host: TenantHost;
  /** `tenantsOf(host)`, shared with others; run by its creator. */
  readonly tenants: Cluster;
  readonly dedicated: DedicatedPlatform;
  readonly migration?: MigrationPlatform | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

/** Kinds of which the cache keeps only our objects. */
export const controlPlaneCaches: readonly KindOptions[] = [
  kindOptions(Namespace, { labelSelector: labels.name }),
  kindOptions(Secret, { labelSelector: labels.kubeconfig }),
  kindOptions(ConfigMap, { namespace: addonNamespace, labelSelector: labels.addon }),
  definitionCache,
];

/** A pass mostly waits for other servers. */
const concurrency = 16;

/**
 * Ignores changes of the status alone: a message that differs each time, as a tenant's webhook can produce it, would defeat every backoff.
 */
const notStatusAlone: Predicate<ControlPlane> = {
  update(beforePlane, afterPlane) {
    const [{ metadata: before }, { metadata: after }] = [beforePlane, afterPlane];
    if (before.resourceVersion === after.resourceVersion || before.generation !== after.generation) return true;
    if (String(decision(beforePlane)) !== String(decision(afterPlane))) return true;
    const told = ({ labels, annotations, finalizers, ownerReferences, deletionTimestamp }: typeof before) => [
      labels,
      annotations,
      finalizers,
      ownerReferences,
      deletionTimestamp,
    ];
    return !isDeepStrictEqual(told(before), told(after));
  },
};

/** The steps of a pass depend on it. */
const decision = ({ status }: ControlPlane) => {
  const { id, outcome, step, completedAt } = status?.migration ?? {};
  return [id, outcome, step === 'Switch', completedAt];
};

/** The manager's cache must have `controlPlaneCaches`. */
export function addControlPlaneController(manager: Manager, options: ControlPlaneControllerOptions): void {
  const { management, host, tenants, dedicated, migration, clock, random, log, failpoints } = options;
  for (const { kind, name, values } of controlPlaneIndexes) manager.addIndex(kind, name, values);
  const writes = new Writes(failpoints);
  const { cluster } = manager;
  const ofClass = (name: string) => Array.from(indexed(cluster, byClass.name, name), (one) => one.name);
  const routes = new Routes({ client: management, clock, log, ofClass });
  const hostFacts = new HostFacts(host.client);
  const hosted = new HostedControlPlanes({ client: management, clock, log });
  const drift = new Drift(host, clock);
  const addonResync = new AddonResync({ clock, random, intervalMs: dedicated.addonResyncMs });
  const events = manager.recorder('controlplane-operator').for(cluster);
  const reconcile = controlPlaneReconciler({
    host,
    tenants,
    hostFacts,
    hosted,
    dedicated,
    migration,
    addonResync,
    routes,
    drift,
    clock,
    random,
    writes,
    events,
  });
  const controller: ControllerOptions<
    ControlPlane,
    [Namespace, Secret, ControlPlaneEndpoint],
    [ControlPlaneClass, ControlPlaneEndpoint, ConfigMap]
  > = {
    name: 'controlplane',
    for: { kind: ControlPlane, where: notStatusAlone },
    owns: [Namespace, Secret, ControlPlaneEndpoint],
    watches: [
      { kind: ControlPlaneClass, map: ({ metadata }, cluster) => indexed(cluster, byClass.name, metadata.name!) },
      { kind: ControlPlaneEndpoint, map: ({ metadata }, cluster) => indexed(cluster, byEndpoint.name, metadata.name!) },
      { kind: ConfigMap, where: labelled({ [labels.addon]: undefined }), map: usersOfAddon },
    ],
    sources: [tenantEvents(tenants), hosted.source, routes.source, drift.source, authorityChanges(host, clock)],
    reconcile,
    concurrency,
  };
  manager.controller(controller);
  if (migration) {
    const world = { hosted, dedicated, writes };
    manager.controller(migrationController({ platform: migration, world, events, clock, log }));
  }
}

function* indexed(cluster: Cluster, name: string, value: string): Iterable<RequestLike> {
  for (const { metadata } of cluster.cache.informer(ControlPlane).byIndex(name, value)) yield { name: metadata.name! };
}

function* usersOfAddon({ metadata }: ApiObject, cluster: Cluster): Iterable<RequestLike> {
  const addon = metadata.labels?.[labels.addon] ?? '';
  for (const { metadata: ofClass, spec } of cluster.cache.informer(ControlPlaneClass).all()) {
    if (spec?.addons?.includes(addon)) yield* indexed(cluster, byClass.name, ofClass.name!);
  }
}
