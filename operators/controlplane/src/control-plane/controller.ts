/**
 * The controller of ControlPlanes: what it looks at, and whom it then thinks of. Everything is followed by watches of the management
 * plane and one of the host; of what happens in tenants a host may tell.
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
import { Routes } from '../gateway/routes.ts';
import { definitionCache } from '../gateway/tls-route.ts';
import { byClass, byEndpoint, controlPlaneIndexes } from './indexes.ts';
import { controlPlaneReconciler } from './reconcile.ts';
import { tenantEvents } from './tenants.ts';
import { Writes } from './writes.ts';

export interface ControlPlaneControllerOptions {
  /** Asks the management plane itself. */
  readonly management: Client;
  readonly host: TenantHost;
  /** `tenantsOf(host)`, which others share; run by who made it. */
  readonly tenants: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

/** Kinds of which the cache keeps only what is ours. */
export const controlPlaneCaches: readonly KindOptions[] = [
  kindOptions(Namespace, { labelSelector: labels.name }),
  kindOptions(Secret, { labelSelector: labels.kubeconfig }),
  kindOptions(ConfigMap, { namespace: addonNamespace, labelSelector: labels.addon }),
  definitionCache,
];

/** Most of a pass is waiting for others. */
const concurrency = 16;

/**
 * Our own status is no news to us: a message that is another each time, as a tenant's webhooks can make it, would outrun every back-off.
 */
const notStatusAlone: Predicate<ControlPlane> = {
  update({ metadata: before }, { metadata: after }) {
    if (before.resourceVersion === after.resourceVersion || before.generation !== after.generation) return true;
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

/** The manager's cache must have `controlPlaneCaches`. */
export function addControlPlaneController(manager: Manager, options: ControlPlaneControllerOptions): void {
  const { management, host, tenants, clock, random, log, failpoints } = options;
  for (const { kind, name, values } of controlPlaneIndexes) manager.addIndex(kind, name, values);
  const writes = new Writes(failpoints);
  const { cluster } = manager;
  const ofClass = (name: string) => Array.from(indexed(cluster, byClass.name, name), (one) => one.name);
  const routes = new Routes({ client: management, clock, log, ofClass });
  const hostFacts = new HostFacts(host.client);
  const drift = new Drift(host, clock);
  const events = manager.recorder('controlplane-operator').for(cluster);
  const reconcile = controlPlaneReconciler({ host, tenants, hostFacts, routes, drift, clock, random, writes, events });
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
    sources: [tenantEvents(tenants), routes.source, drift.source, authorityChanges(host, clock)],
    reconcile,
    concurrency,
  };
  manager.controller(controller);
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
