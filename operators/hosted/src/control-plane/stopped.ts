/**
 * Stops the components of a HostedControlPlane with the annotation `hosted.hangar.dev/stopped`: controllers, then API servers, then etcd are
 * scaled to zero, each after the pods of the previous stage are gone. Volumes, Secrets and the address stay. Without the annotation the
 * phases scale them up again.
 */

import { keyOf } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { isConditionTrue } from '@hangar/runtime';
import type { NewCondition, Result } from '@hangar/runtime';
import { annotations, clusterNameLabel } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import { restoreStateOf } from '../restore/state.ts';
import { componentLabel, workloadName } from '../render/index.ts';
import type { Component } from '../render/index.ts';
import { findObject } from './apply.ts';
import { statusWithout, stoppedCondition } from './conditions.ts';
import { removeSchedule } from './etcd-backup.ts';
import type { Pass } from './pass.ts';
import { writeStatus } from './write-status.ts';

export type Stopping = Pick<Pass, 'world' | 'client' | 'apiReader' | 'signal' | 'hostedControlPlane'>;

/** Without events of workloads, pods are counted again after this time. */
const podsPollMs = 1_000;

export interface ComponentState {
  readonly component: Component;
  /** Desired number of pods. Zero: the workload does not exist, or is stopped. */
  readonly replicas: number;
  /** Existing pods, also those that terminate. */
  readonly pods: number;
}

export type StopAction =
  | { readonly type: 'scale-down'; readonly components: readonly Component[] }
  | { readonly type: 'wait'; readonly message: string }
  | { readonly type: 'stopped' };

/** Controllers write through API servers, and these write to etcd. */
export const stages: readonly (readonly Component[])[] = [
  ['kube-controller-manager', 'kube-scheduler'],
  ['kube-apiserver'],
  ['etcd'],
];

/** Returns the next action. Pure. */
export function nextStop(states: readonly ComponentState[]): StopAction {
  for (const stage of stages) {
    const some = states.filter(({ component }) => stage.includes(component));
    const running = some.filter(({ replicas }) => replicas > 0).map(({ component }) => component);
    if (running.length > 0) return { type: 'scale-down', components: running };
    const pods = some.reduce((sum, one) => sum + one.pods, 0);
    if (pods > 0) return { type: 'wait', message: `waiting for ${pods} pods of ${stage.join(' and ')} to terminate` };
  }
  return { type: 'stopped' };
}

/** A restore scales workloads itself: a control plane is stopped after it. */
export const isStopRequested = (object: HostedControlPlane): boolean =>
  object.metadata.annotations?.[annotations.stopped] === 'true' && restoreStateOf(object) === undefined;

export async function stopWorkloads(stopping: Stopping): Promise<Result | void> {
  const { world, client, signal, hostedControlPlane: object } = stopping;
  const key = { namespace: object.metadata.namespace!, name: object.metadata.name! };
  world.etcdCare.forget(key);
  world.autoscaler.forget(key);
  world.metrics.remove(key);
  // Backups of a stopped etcd fail. The phases create the schedule again.
  if (world.hasBackups) await removeSchedule(stopping, planeName(object).name);
  const action = nextStop(await statesOf(stopping));
  if (action.type === 'scale-down') for (const one of action.components) await scaleToZero(stopping, one);
  const message = messageOf(action);
  const isStopped = action.type === 'stopped';
  const isAvailable = action.type === 'scale-down' && !action.components.some((one) => stages[1]!.includes(one));
  const conditions: NewCondition[] = [
    { type: stoppedCondition, status: isStopped, reason: isStopped ? 'Stopped' : 'Stopping', message },
    { type: 'Ready', status: false, reason: 'Stopped', message: 'the control plane is stopped by its annotation' },
    ...(isAvailable ? [] : [{ type: 'Available', status: false, reason: 'Stopped', message: '' }]),
  ];
  const counts = isStopped ? { replicas: 0, readyReplicas: 0, availableReplicas: 0, unavailableReplicas: 0 } : {};
  const status = {
    ...statusWithout(object, conditions, world.clock),
    ...counts,
    ...(isAvailable ? {} : { ready: false }),
  };
  await writeStatus({ client, writes: world.writes, events: world.events, object, status, signal });
  return isStopped ? undefined : { requeueAfterMs: podsPollMs };
}

function messageOf(action: StopAction): string {
  if (action.type === 'wait') return action.message;
  if (action.type === 'scale-down') return `stopping ${action.components.join(' and ')}`;
  return 'no component runs; volumes and Secrets are kept';
}

/** Reads workloads from the cache, and pods from the server: a control plane that is stopped causes no requests. */
async function statesOf(stopping: Stopping): Promise<ComponentState[]> {
  const { apiReader, signal, hostedControlPlane: object } = stopping;
  const { namespace } = object.metadata;
  const replicas = await Promise.all(
    stages.flat().map(async (component) => {
      const name = workloadName(planeName(object), component);
      const kind = component === 'etcd' ? StatefulSet : Deployment;
      const workload = await findObject<Deployment | StatefulSet>(stopping, kind as never, { namespace, name });
      return { component, replicas: workload ? (workload.spec?.replicas ?? 1) : 0 };
    }),
  );
  const isKnown = isConditionTrue(object.status?.conditions, stoppedCondition);
  if (isKnown && replicas.every((one) => one.replicas === 0)) return replicas.map((one) => ({ ...one, pods: 0 }));
  const labelSelector = { [clusterNameLabel]: planeName(object).name };
  const { items } = await apiReader.list(Pod, { namespace, labelSelector, signal });
  return replicas.map((one) => ({
    ...one,
    pods: items.filter(({ metadata }) => metadata.labels?.[componentLabel] === one.component).length,
  }));
}

async function scaleToZero({ client, world, signal, hostedControlPlane }: Stopping, what: Component): Promise<void> {
  const { namespace } = keyOf(hostedControlPlane);
  const key = { namespace, name: workloadName(planeName(hostedControlPlane), what) };
  const patch = { type: 'merge' as const, body: { spec: { replicas: 0 } } };
  await world.writes.make(`stop-${what}`, async () => {
    try {
      if (what === 'etcd') await client.patch(StatefulSet, key, patch, { signal });
      else await client.patch(Deployment, key, patch, { signal });
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
    }
  });
}

const planeName = ({ metadata }: HostedControlPlane): { readonly name: string } => ({
  name: metadata.annotations?.[annotations.clusterName] ?? metadata.name!,
});
