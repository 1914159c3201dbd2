/**
 * Provider of the clusters of Cluster API: engaged when their control plane is initialized, with the kubeconfig in the secret
 * `<name>-kubeconfig` beside them.
 */

import { defineKind, keyOf } from '@hangar/client';
import type { ApiObject, Kind, ObjectKey } from '@hangar/client';
import type { Provider } from '../contract.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';
import { conditionOf, Secret } from './kinds.ts';
import type { Condition } from './kinds.ts';
import { foundByKubeconfig, kubeconfigIn, onlyKubeconfig, secretText } from './kubeconfig.ts';
import { nameWithin } from './names.ts';
import type { ClusterOptions } from './open-cluster.ts';
import { servedVersion } from './served-version.ts';

/** Options of `clusterApi`. */
export interface ClusterApiOptions extends ManagementOptions {
  /** Namespace of the `Cluster` objects. Absent: all namespaces; cluster names are then `namespace/name`. */
  readonly namespace?: string;
  /** Label selector of `Cluster` objects. */
  readonly labelSelector?: string;
  /** Label selector of kubeconfig Secrets. Absent: the label that Cluster API sets. */
  readonly secretSelector?: string;
  /** Condition that must be true. `Available` also requires the worker nodes. Absent: `ControlPlaneInitialized`. */
  readonly condition?: 'ControlPlaneInitialized' | 'Available';
  /** API version. Absent: the newest served version. */
  readonly version?: ClusterApiVersion;
  readonly clusterOptions?: ClusterOptions;
}

export type ClusterApiVersion = 'v1beta2' | 'v1beta1';

interface ClusterObject extends ApiObject {
  spec?: { paused?: boolean };
  status?: {
    conditions?: readonly Condition[] | null;
    /** Only in v1beta2. */
    initialization?: { controlPlaneInitialized?: boolean };
    /** The conditions of v1beta2, in v1beta1. */
    v1beta2?: { conditions?: readonly Condition[] | null };
  };
}

const group = 'cluster.x-k8s.io';
const versions: readonly ClusterApiVersion[] = ['v1beta2', 'v1beta1'];
const secretKey = 'value';
const suffix = '-kubeconfig';

const clusterKind = (version: string): Kind<ClusterObject> =>
  defineKind({ apiVersion: `${group}/${version}`, kind: 'Cluster', plural: 'clusters', isNamespaced: true });

/** Returns a provider of the clusters of Cluster API. */
export function clusterApi(options: ClusterApiOptions): Provider {
  const { namespace, labelSelector, secretSelector = `${group}/cluster-name` } = options;
  const { condition = 'ControlPlaneInitialized', clusterOptions = {} } = options;
  const within = namespace === undefined ? {} : { namespace };
  return informedProvider('cluster-api', options, async ({ cache, announcements, follow }, signal) => {
    const version = options.version ?? (await servedVersion(options, group, versions, signal));
    const clusters = cache.informer(clusterKind(version), { ...within, ...(labelSelector ? { labelSelector } : {}) });
    const secrets = cache.informer(Secret, {
      ...within,
      ...(secretSelector ? { labelSelector: secretSelector } : {}),
      transform: onlyKubeconfig(secretKey),
    });
    const refresh = (key: ObjectKey): void => {
      const name = nameWithin(namespace, key);
      const cluster = clusters.get(key);
      const secret = cluster && secrets.get({ namespace: key.namespace, name: `${key.name}${suffix}` });
      const kubeconfig = kubeconfigIn(secret, secretKey);
      if (!secret || kubeconfig === undefined || !isReady(cluster, condition)) {
        return announcements.tell(name, undefined);
      }
      const { labels = {}, uid: identity = '' } = cluster.metadata;
      const found = { name, labels, kubeconfig, identity, source: secretText(secret) };
      announcements.tellWhenFound(name, foundByKubeconfig(found, clusterOptions));
    };
    follow(clusters, (cluster) => refresh(keyOf(cluster)));
    follow(secrets, ({ metadata }) => {
      const name = metadata.name!;
      if (name.endsWith(suffix)) refresh({ namespace: metadata.namespace, name: name.slice(0, -suffix.length) });
    });
  });
}

function isReady({ status }: ClusterObject, condition: string): boolean {
  if (condition === 'ControlPlaneInitialized' && status?.initialization?.controlPlaneInitialized) return true;
  const said = conditionOf(status?.v1beta2?.conditions, condition) ?? conditionOf(status?.conditions, condition);
  return said === 'True';
}
