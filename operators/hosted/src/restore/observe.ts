/** Reads the objects that the next action of a restore depends on. */

import { find } from '@hangar/client';
import type { Reader } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { findCondition, isBeingDeleted, isConditionTrue } from '@hangar/runtime';
import { annotations, clusterNameLabel } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import { componentLabel, workloadName } from '../render/index.ts';
import type { Component } from '../render/index.ts';
import { podActions } from './plan.ts';
import type { PodProgress, RestoreObservation, WorkloadState } from './plan.ts';
import { podName, receiveContainer, restoreComponent } from './pods.ts';
import type { RestoreState } from './state.ts';

export interface ObserveOptions {
  readonly reader: Reader;
  readonly object: HostedControlPlane;
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly state: RestoreState;
  readonly members: number;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface Observed {
  readonly observation: RestoreObservation;
  /** Of the restore, by name. */
  readonly pods: ReadonlyMap<string, Pod>;
  /** Of etcd, by name. */
  readonly etcdPods: ReadonlyMap<string, Pod>;
}

/** Reads from the server: a cache can be behind a write of this operator. */
export async function observe(options: ObserveOptions): Promise<Observed> {
  const { reader, object, name, state, members, nowMs, signal } = options;
  const { namespace = '' } = object.metadata;
  const labelSelector = { [clusterNameLabel]: name };
  const { items } = await reader.list(Pod, { namespace, labelSelector, signal });
  const component = (pod: Pod): string => pod.metadata.labels?.[componentLabel] ?? '';
  const workload = async (...components: readonly Exclude<Component, 'etcd'>[]): Promise<WorkloadState> => {
    const found = await Promise.all(
      components.map((one) => find(reader, Deployment, { namespace, name: workloadName({ name }, one) }, { signal })),
    );
    return {
      replicas: found.reduce((sum, one) => sum + (one?.spec?.replicas ?? 0), 0),
      pods: items.filter((pod) => components.some((one) => one === component(pod))).length,
    };
  };
  const set = await find(reader, StatefulSet, { namespace, name: workloadName({ name }, 'etcd') }, { signal });
  const etcdPods = items.filter((pod) => component(pod) === 'etcd');
  const own = items.filter((pod) => component(pod) === restoreComponent);
  const action = podActions[state.phase];
  const names = action ? Array.from({ length: members }, (_, ordinal) => podName(name, action, ordinal)) : [];
  const current = new Map(own.map((pod) => [pod.metadata.name!, pod]));
  const { replicas = 0 } = set?.spec ?? {};
  const isObserved = (set?.status?.observedGeneration ?? 0) >= (set?.metadata.generation ?? 0);
  return {
    observation: {
      controllers: await workload('kube-controller-manager', 'kube-scheduler'),
      apiServers: await workload('kube-apiserver'),
      etcd: { replicas: set && replicas, pods: etcdPods.length },
      isHeld: findCondition(object.status?.conditions, 'EtcdClusterReady')?.reason === 'Restoring',
      pods: names.map((one) => progressOf(current.get(one), state.uid)),
      otherPods: own.filter(({ metadata }) => !names.includes(metadata.name!)).length,
      isEtcdReady: isObserved && replicas > 0 && set?.status?.readyReplicas === replicas,
      isEqual: undefined,
      isPlaneReady: isPlaneReady(object),
      nowMs,
    },
    pods: current,
    etcdPods: new Map(etcdPods.map((pod) => [pod.metadata.name!, pod])),
  };
}

/** The control plane was not ready while it was held, so the condition is newer than the hold. */
const isPlaneReady = ({ status, metadata }: HostedControlPlane): boolean =>
  isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation;

/** A pod of another restore is in the way, until it is deleted. */
export function progressOf(pod: Pod | undefined, uid: string): PodProgress {
  if (!pod) return 'absent';
  if (isBeingDeleted(pod)) return 'terminating';
  if (pod.metadata.annotations?.[annotations.restore] !== uid) return 'failed';
  const { phase, initContainerStatuses = [], podIP } = pod.status ?? {};
  if (phase === 'Succeeded') return 'succeeded';
  if (phase === 'Failed') return 'failed';
  const receive = initContainerStatuses.find(({ name }) => name === receiveContainer);
  if (receive?.state?.running && podIP) return 'receiving';
  return phase === 'Running' || receive?.state?.terminated ? 'running' : 'pending';
}
