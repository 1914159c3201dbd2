/** Kinds of Cluster API, with the fields that tests use. */

import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';

export interface ClusterV1Beta2 extends ApiObject {
  spec?: {
    paused?: boolean;
    controlPlaneEndpoint?: { host?: string; port?: number };
    controlPlaneRef?: { name: string };
    infrastructureRef?: { name: string };
    topology?: Topology;
  };
  status?: {
    initialization?: { infrastructureProvisioned?: boolean; controlPlaneInitialized?: boolean };
    conditions?: Condition[];
    controlPlane?: { readyReplicas?: number };
  };
}

/** The part of a Cluster that a ClusterClass determines the rest of. */
export interface Topology {
  classRef: { name: string };
  version: string;
  controlPlane: { replicas: number };
  variables?: { name: string; value: string }[];
}

export interface ClusterV1Beta1 extends ApiObject {
  status?: { controlPlaneReady?: boolean; conditions?: { type: string; status: string }[] };
}

const clusterNames = { kind: 'Cluster', plural: 'clusters', isNamespaced: true } as const;
export const ClusterV1Beta2 = defineKind<ClusterV1Beta2>({ apiVersion: 'cluster.x-k8s.io/v1beta2', ...clusterNames });
export const ClusterV1Beta1 = defineKind<ClusterV1Beta1>({ apiVersion: 'cluster.x-k8s.io/v1beta1', ...clusterNames });
export const Machine = defineKind<ApiObject & { spec: object }>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  plural: 'machines',
  isNamespaced: true,
});
export const KubeadmConfig = defineKind<ApiObject & { spec?: object; status?: { dataSecretName?: string } }>({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmConfig',
  plural: 'kubeadmconfigs',
  isNamespaced: true,
});
export const ClusterClass = defineKind<ApiObject & { spec: object }>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'ClusterClass',
  plural: 'clusterclasses',
  isNamespaced: true,
});
