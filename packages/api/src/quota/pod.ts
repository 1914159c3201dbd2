/**
 * The parts of pods that describe their resources, as decoded: absent fields are zero or unset, lists and maps may be null. Packages that
 * read more of a pod extend these.
 */

import type { JsonObject, KubeObject } from '../object.ts';

export type Maybe<T> = T | null | undefined;
export type List<T> = Maybe<T[]>;
export type ResourceList = Maybe<Record<string, string>>;

export interface Resources {
  requests?: ResourceList;
  limits?: ResourceList;
}

export interface SizedContainer {
  name?: string;
  restartPolicy?: Maybe<string>;
  resources?: Maybe<Resources>;
}

export interface AffinityTerm {
  namespaces?: List<string>;
  namespaceSelector?: Maybe<JsonObject>;
  topologyKey?: string;
}

export interface AffinityRules {
  requiredDuringSchedulingIgnoredDuringExecution?: List<AffinityTerm>;
  preferredDuringSchedulingIgnoredDuringExecution?: List<{ podAffinityTerm?: Maybe<AffinityTerm> }>;
}

export interface SizedPodSpec {
  containers?: List<SizedContainer>;
  initContainers?: List<SizedContainer>;
  resources?: Maybe<Resources>;
  overhead?: ResourceList;
  affinity?: Maybe<{ podAffinity?: Maybe<AffinityRules>; podAntiAffinity?: Maybe<AffinityRules> }>;
  priorityClassName?: string;
  activeDeadlineSeconds?: Maybe<number>;
}

export interface ContainerStatus {
  name?: string;
  resources?: Maybe<Resources>;
  allocatedResources?: ResourceList;
}

export interface SizedPodStatus {
  phase?: string;
  qosClass?: string;
  conditions?: List<{ type?: string; reason?: string }>;
  containerStatuses?: List<ContainerStatus>;
  initContainerStatuses?: List<ContainerStatus>;
}

export interface SizedPod extends KubeObject {
  spec?: SizedPodSpec;
  status?: SizedPodStatus;
}

/** Read-only: a pod without a spec stays as it is. */
export const sizedSpecOf = (pod: KubeObject): SizedPodSpec => (pod as SizedPod).spec ?? {};
