/**
 * Routes of the front door, read from caches: `status.frontDoor.host` of HostedControlPlanes, which only the operator writes, and the ready
 * pods of their API servers.
 *
 * Backends are pods instead of the Service. The front door can then try another API server when one refuses the connection, no component
 * forwards the bytes a second time, and it works on the process runtime, whose pods have addresses of the machine but whose Services have
 * no cluster IP that its clients can reach.
 */

import type { Backend, FindRoute, Route } from '@hangar/front-door';
import { kindOptions } from '@hangar/runtime';
import type { Cache, KindOptions } from '@hangar/runtime';
import { Pod } from '@hangar/client/kinds/core-v1';
import { annotations, clusterNameLabel, HostedControlPlane } from '../api/index.ts';
import { apiPortName, componentLabel, konnectivityServicePort } from '../render/index.ts';
import { byCreation, withKonnectivity } from './hosts.ts';

const byHost = 'front-door-routes';
const byCluster = 'api-servers-by-cluster';

/** Only the fields that routes need are cached. */
export const routeCaches = (): KindOptions[] => [
  kindOptions(Pod, { labelSelector: `${componentLabel}=kube-apiserver,${clusterNameLabel}`, transform: leanPod }),
  kindOptions(HostedControlPlane, { transform: leanControlPlane }),
];

function leanPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels, deletionTimestamp } as Pod['metadata'],
    spec: { containers: (spec?.containers ?? []).map((one) => ({ name: one.name, ports: one.ports ?? [] })) },
    status: {
      ...(status?.podIP ? { podIP: status.podIP } : {}),
      conditions: status?.conditions?.filter(({ type }) => type === 'Ready') ?? [],
    },
  };
}

function leanControlPlane({ apiVersion, kind, metadata, spec, status }: HostedControlPlane): HostedControlPlane {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations: all } = metadata;
  const clusterName = all?.[annotations.clusterName];
  const kept = clusterName === undefined ? {} : { [annotations.clusterName]: clusterName };
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, annotations: kept } as typeof metadata,
    spec: { version: spec.version },
    status: status?.frontDoor ? { frontDoor: status.frontDoor } : {},
  };
}

const clusterOf = (namespace: string | undefined, name: string | undefined): string => `${namespace}/${name}`;

export interface RoutesOptions {
  /** Only host names below these domains have routes. Absent: all. */
  readonly domains?: readonly string[] | undefined;
}

/** Adds the indexes of routes. The cache must have `routeCaches`. */
export function routesOf(cache: Cache, { domains }: RoutesOptions = {}): FindRoute {
  const isServed = (host: string): boolean => !domains || domains.some((domain) => host.endsWith(`.${domain}`));
  cache.addIndex(HostedControlPlane, byHost, ({ status }) => {
    const host = status?.frontDoor?.host;
    return host === undefined || !isServed(host) ? [] : withKonnectivity(host);
  });
  cache.addIndex(Pod, byCluster, ({ metadata }) => [
    clusterOf(metadata.namespace, metadata.labels?.[clusterNameLabel]),
  ]);
  const [planes, pods] = [cache.informer(HostedControlPlane), cache.informer(Pod)];
  return (serverName) => {
    // The operator gives a host name to one control plane. While it changes, the one that was created first has it.
    const [plane] = [...planes.byIndex(byHost, serverName)].sort(byCreation);
    return plane && routeTo(plane, serverName, (cluster) => pods.byIndex(byCluster, cluster));
  };
}

function routeTo(
  { metadata, status }: HostedControlPlane,
  serverName: string,
  podsOf: (cluster: string) => Iterable<Pod>,
): Route {
  const { namespace, name } = metadata;
  const port = serverName === status!.frontDoor!.host ? apiPortName : konnectivityServicePort.name!;
  const cluster = clusterOf(namespace, metadata.annotations?.[annotations.clusterName] ?? name);
  return {
    name: `${namespace}/${name}`,
    backends: Array.from(podsOf(cluster)).flatMap((pod) => backendsIn(pod, port)),
  };
}

function backendsIn({ metadata, spec, status }: Pod, portName: string): Backend[] {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  const port = spec?.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === portName)?.containerPort;
  const host = status?.podIP;
  return isReady && !metadata.deletionTimestamp && host && port !== undefined ? [{ host, port }] : [];
}
