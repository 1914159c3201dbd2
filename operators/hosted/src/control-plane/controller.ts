/** The controller of HostedControlPlanes. */

import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Secret, Service } from '@hangar/client/kinds/core-v1';
import { NetworkPolicy } from '@hangar/client/kinds/networking-v1';
import { PodDisruptionBudget } from '@hangar/client/kinds/policy-v1';
import type { ApiObject, Kind } from '@hangar/client';
import { ControlPlaneBackupSchedule } from '@hangar/backup-operator/api';
import { kindOptions } from '@hangar/runtime';
import type { KindOptions, Manager, Predicate, RequestLike, WatchesOptions } from '@hangar/runtime';
import { isDeepStrictEqual } from 'node:util';
import { clusterNameLabel, HostedControlPlane } from '../api/index.ts';
import { Certificate, Issuer } from '../cert-manager/kinds.ts';
import { Autoscaler } from '../autoscaling/autoscaler.ts';
import type { AutoscalerOptions } from '../autoscaling/autoscaler.ts';
import { EtcdCare } from '../etcd/care.ts';
import type { EtcdTimes } from '../etcd/care.ts';
import type { OpenSession } from '../etcd/session.ts';
import { AutoscalingMetrics } from '../metrics/autoscaling-metrics.ts';
import { EtcdMetrics } from '../metrics/etcd-metrics.ts';
import { HostedMetrics } from '../metrics/hosted-metrics.ts';
import { tlsRouteKind } from '../gateway/kinds.ts';
import type { ClusterObject } from '../render/index.ts';
import { claimedHosts } from '../front-door/hosts.ts';
import type { FrontDoorSettings } from '../front-door/settings.ts';
import type { FrontDoorWorld, World } from './pass.ts';
import { hostedControlPlaneReconciler } from './reconcile.ts';

const owned = [Service, Secret, ConfigMap, Deployment, StatefulSet, PodDisruptionBudget, NetworkPolicy] as const;

/** The APIs of other projects that the management cluster serves. */
export type OptionalApis = Pick<World, 'tlsRouteVersion' | 'certManager' | 'hasBackups'>;

/** The kinds of the objects of a control plane. */
const ownedKinds = ({ tlsRouteVersion: version, certManager }: OptionalApis): readonly Kind<ApiObject>[] =>
  [
    ...owned,
    ...(version ? [tlsRouteKind(version)] : []),
    ...(certManager ? [Issuer, Certificate] : []),
  ] as unknown as readonly Kind<ApiObject>[];

/** Only objects of control planes are cached. */
export const hostedCaches = (apis: OptionalApis): KindOptions[] =>
  ownedKinds(apis).map((kind) => kindOptions(kind, { labelSelector: clusterNameLabel }));

/** Ignores changes of the status alone, which the reconciler itself writes. */
const notStatusAlone: Predicate<HostedControlPlane> = {
  update({ metadata: before }, { metadata: after }) {
    if (before.resourceVersion === after.resourceVersion || before.generation !== after.generation) return true;
    const parts = ({ labels, annotations, ownerReferences, deletionTimestamp }: typeof before) => [
      labels,
      annotations,
      ownerReferences,
      deletionTimestamp,
    ];
    return !isDeepStrictEqual(parts(before), parts(after));
  },
};

export interface HostedControllerOptions extends Omit<
  World,
  'events' | 'metrics' | 'etcdCare' | 'autoscaler' | 'frontDoor'
> {
  readonly openEtcd: OpenSession;
  readonly etcdTimes?: EtcdTimes | undefined;
  readonly frontDoor?: FrontDoorSettings | undefined;
  /** Maximum number of concurrent reconciles. */
  readonly concurrency: number;
  readonly autoscaling?: Pick<AutoscalerOptions, 'scrape' | 'periodMs' | 'warmUpMs'> | undefined;
}

/** The cache of the manager must have `hostedCaches`. */
export function addHostedController(
  manager: Manager,
  { concurrency, openEtcd, etcdTimes, autoscaling, frontDoor: settings, ...options }: HostedControllerOptions,
): void {
  const world = { ...options, frontDoor: settings && frontDoorWorld(manager, settings) };
  const { clusterKind, clock, random } = world;
  const metrics = new HostedMetrics(manager.registry);
  const events = manager.recorder('hosted-operator').for(manager.cluster);
  const etcdMetrics = new EtcdMetrics(manager.registry);
  const etcdCare = new EtcdCare({ ...etcdTimes, clock, open: openEtcd, events, metrics: etcdMetrics });
  const autoscalingMetrics = new AutoscalingMetrics(manager.registry);
  const autoscaler = new Autoscaler({ ...autoscaling, clock, random, metrics: autoscalingMetrics, events });
  const clusters: WatchesOptions<ClusterObject>[] = clusterKind ? [{ kind: clusterKind, map: controlPlanesOf }] : [];
  manager.controller<HostedControlPlane, ApiObject[], ClusterObject[]>({
    name: 'hostedcontrolplane',
    for: { kind: HostedControlPlane, where: notStatusAlone },
    // Schedules of users are in the cache as well: the controllers of backups read it.
    owns: [...ownedKinds(world), ...(world.hasBackups ? [ControlPlaneBackupSchedule] : [])] as never,
    watches: clusters as never,
    sources: [etcdCare.source, autoscaler.source],
    reconcile: hostedControlPlaneReconciler({ ...world, events, metrics, etcdCare, autoscaler }),
    concurrency,
  });
}

const byHost = 'hosted-control-planes-by-host';

function frontDoorWorld(manager: Manager, settings: FrontDoorSettings): FrontDoorWorld {
  const { cache } = manager.cluster;
  cache.addIndex(HostedControlPlane, byHost, (object) => claimedHosts(object, settings));
  return { settings, claimants: (host) => cache.informer(HostedControlPlane).byIndex(byHost, host) };
}

function controlPlanesOf({ spec, metadata }: ClusterObject): RequestLike[] {
  const {
    kind,
    name,
    namespace = metadata.namespace,
  } = (spec as { controlPlaneRef?: ControlPlaneReference })?.controlPlaneRef ?? {};
  return kind === 'HostedControlPlane' && name !== undefined ? [{ namespace, name }] : [];
}

/** `apiVersion` in v1beta1, `apiGroup` in v1beta2: the kind is enough here. */
interface ControlPlaneReference {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}
