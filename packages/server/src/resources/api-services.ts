/**
 * APIService objects of this server: one for each group-version, of built-in kinds and of definitions. Their priorities order groups and
 * versions in discovery, as in Kubernetes.
 */

import type { JsonObject, KubeObject } from '@hangar/api';

/** Group → its priority, and the priority of each version. */
const priorities: Readonly<Record<string, readonly [number, Readonly<Record<string, number>>]>> = {
  '': [18_000, { v1: 1 }],
  apps: [17_800, { v1: 15 }],
  'events.k8s.io': [17_750, { v1: 15 }],
  'authentication.k8s.io': [17_700, { v1: 15 }],
  'authorization.k8s.io': [17_600, { v1: 15 }],
  autoscaling: [17_500, { v1: 15, v2: 30 }],
  batch: [17_400, { v1: 15 }],
  'certificates.k8s.io': [17_300, { v1: 15 }],
  'networking.k8s.io': [17_200, { v1: 15 }],
  policy: [17_100, { v1: 15 }],
  'rbac.authorization.k8s.io': [17_000, { v1: 15 }],
  'storage.k8s.io': [16_800, { v1: 15 }],
  'apiextensions.k8s.io': [16_700, { v1: 15 }],
  'admissionregistration.k8s.io': [16_700, { v1: 15 }],
  'scheduling.k8s.io': [16_600, { v1: 15 }],
  'coordination.k8s.io': [16_500, { v1: 15 }],
  'node.k8s.io': [16_300, { v1: 15 }],
  'discovery.k8s.io': [16_200, { v1: 15 }],
  'resource.k8s.io': [16_200, { v1: 21 }],
  'flowcontrol.apiserver.k8s.io': [16_100, { v1: 21 }],
};

export const apiServicesName = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };

const managed = 'kube-aggregator.kubernetes.io/automanaged';

/** Priority of groups of definitions. */
const customPriority = { group: 1_000, version: 100 };

/** Returns the priority of a group in discovery: the aggregator's own group first, those of definitions last. */
export function groupPriorityOf(group: string): number {
  if (group === apiServicesName.group) return Number.POSITIVE_INFINITY;
  return Object.hasOwn(priorities, group) ? priorities[group]![0] : customPriority.group;
}

export function versionPriorityOf(group: string, version: string): number {
  const versions = Object.hasOwn(priorities, group) ? priorities[group]![1] : {};
  return Object.hasOwn(versions, version) ? versions[version]! : customPriority.version;
}

/** The server created the object, and may delete it. */
export const isManaged = ({ metadata: { labels } }: KubeObject): boolean => labels?.[managed] !== undefined;

export interface ApiService extends JsonObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

/** APIServices of the built-in groups. */
export const builtinApiServices = (now: string): ApiService[] =>
  Object.entries(priorities).flatMap(([group, [groupPriority, versions]]) =>
    Object.entries(versions).map(([version, versionPriority]) =>
      apiService({ group, version, groupPriority, versionPriority, managedAs: 'onstart', now }),
    ),
  );

/** APIService of a group-version of definitions; deleted with the last of them. */
export const customApiService = (group: string, version: string, now: string): ApiService =>
  apiService({
    group,
    version,
    groupPriority: customPriority.group,
    versionPriority: customPriority.version,
    managedAs: 'true',
    now,
  });

export const apiServiceName = (group: string, version: string): string => `${version}.${group}`;

interface ApiServiceOptions {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly managedAs: 'onstart' | 'true';
  readonly now: string;
}

function apiService({ group, version, groupPriority, versionPriority, managedAs, now }: ApiServiceOptions): ApiService {
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: apiServiceName(group, version), labels: { [managed]: managedAs } },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: groupPriority,
      versionPriority,
    },
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: now,
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    },
  };
}
