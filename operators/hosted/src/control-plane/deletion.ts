/**
 * Deletes the workloads of a HostedControlPlane in their order: kube-controller-manager and kube-scheduler, then kube-apiserver, then
 * etcd. An API server without etcd uses its whole grace period, so each stage waits until the pods of the previous one are gone. Then
 * Secrets and ConfigMaps are deleted, the finalizer is removed, and the garbage collector deletes the other objects.
 *
 * A deletion of the object in the foreground and the deletion of its namespace delete all objects at the same time. API servers whose etcd
 * is being deleted then get a short grace period.
 *
 * Workloads are deleted in the foreground: their events report the progress, and pods are read only when a workload takes long or was
 * deleted by others.
 */

import type { Kind } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import { dropFinalizer, hasFinalizer, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import type { Result } from '@hangar/runtime';
import { annotations, clusterNameLabel, finalizer, HostedControlPlane, movedAnnotation } from '../api/index.ts';
import { workloadName } from '../render/index.ts';
import type { Component } from '../render/index.ts';
import { findObject } from './apply.ts';
import { ownerOf } from './cluster.ts';
import { deletionStatus } from './conditions.ts';
import type { Pass, Verdict } from './pass.ts';
import { stages } from './stopped.ts';
import { writeStatus } from './write-status.ts';

/** The part of a pass that a deletion uses: it needs no rendering. */
export type Deletion = Pick<Pass, 'world' | 'client' | 'apiReader' | 'signal' | 'hostedControlPlane'>;

/** Pods usually terminate within this time. Later, they are named in the condition. */
const patienceMs = 10_000;
/** Pods that terminate longer than their grace period and this time need help. */
const overdueMs = 30_000;
const strandedGraceSeconds = 1;
const podsPollMs = 2_000;
const namesMax = 5;

/** Of the garbage collector, for a deletion with `--cascade=orphan`. */
const orphanFinalizer = 'orphan';

/** Runs on every event of an object that is being deleted. Each call starts or awaits one stage. */
export async function deleteInOrder(deletion: Deletion): Promise<Result | void> {
  const { hostedControlPlane: object, signal } = deletion;
  if (!hasFinalizer(object, finalizer)) return;
  // The target of a move has the objects already. clusterctl removes all finalizers itself.
  if (object.metadata.annotations?.[movedAnnotation] !== undefined) return;
  if (hasFinalizer(object, orphanFinalizer)) return release(deletion);
  for (const [stage, components] of stages.entries()) {
    try {
      const verdicts = [];
      for (const component of components) verdicts.push(await deleteWorkload(deletion, component));
      const pending = mostUrgent(verdicts);
      if (!pending) continue;
      if (stage <= stages.findIndex((one) => one.includes('kube-apiserver'))) await endStranded(deletion);
      await report(deletion, stage, pending);
      return { requeueAfterMs: pending.requeueAfterMs! };
    } catch (error) {
      if (signal.aborted || hasCode(error, 'Conflict')) throw error;
      const { message } = asError(error);
      await report(deletion, stage, { reason: 'ReconcileError', message: `deletion failed, retrying: ${message}` });
      throw error;
    }
  }
  await deleteOwned(deletion, Secret);
  await deleteOwned(deletion, ConfigMap);
  await release(deletion);
}

/**
 * Deletes the Secrets or ConfigMaps of the object. If the garbage collector deleted them later, a new object of the same name could find
 * its predecessor's authorities, use them, and lose them. Those of users have no owner and stay.
 */
async function deleteOwned<T extends Secret | ConfigMap>(deletion: Deletion, kind: Kind<T>): Promise<void> {
  const { client, world, signal, hostedControlPlane } = deletion;
  const { namespace } = hostedControlPlane.metadata;
  const labelSelector = { [clusterNameLabel]: planeName(deletion).name };
  const { items } = await client.list(kind, { namespace, labelSelector, signal });
  const owned = items.filter((one) => isControlledBy(one, hostedControlPlane) && !isBeingDeleted(one));
  for (const { metadata } of owned) {
    const { name, uid, resourceVersion } = metadata;
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    await world.writes.make(`delete-${kind.kind.toLowerCase()}`, () =>
      client.delete(kind, { namespace, name: name! }, { preconditions, signal }),
    );
  }
}

const release = ({ world, client, signal, hostedControlPlane }: Deletion): Promise<void> =>
  world.writes.make('finalizer', () =>
    dropFinalizer(client, HostedControlPlane, hostedControlPlane, finalizer, { signal }),
  );

const mostUrgent = (verdicts: readonly (Verdict | undefined)[]): Verdict | undefined =>
  verdicts.find((verdict) => verdict?.reason === 'PodsNotTerminating') ?? verdicts.find(Boolean);

async function report(deletion: Deletion, stage: number, verdict: Verdict): Promise<void> {
  const { client, world, signal, hostedControlPlane: object } = deletion;
  const isUnavailable = stages[stage]!.some((component) => component === 'kube-apiserver' || component === 'etcd');
  const status = deletionStatus(object, verdict, isUnavailable, world.clock);
  await writeStatus({ client, writes: world.writes, events: world.events, object, status, signal });
}

/** Undefined: the workload and its pods are gone. */
function deleteWorkload(deletion: Deletion, component: Component): Promise<Verdict | undefined> {
  return component === 'etcd'
    ? deleteOne(deletion, component, StatefulSet)
    : deleteOne(deletion, component, Deployment);
}

async function deleteOne<T extends Deployment | StatefulSet>(
  deletion: Deletion,
  component: Component,
  kind: Kind<T>,
): Promise<Verdict | undefined> {
  const { hostedControlPlane, client, world, signal } = deletion;
  const key = { namespace: hostedControlPlane.metadata.namespace, name: workloadName(planeName(deletion), component) };
  const workload = await findObject(deletion, kind, key);
  if (!workload) return verdictOfPods(deletion, component);
  // Of another owner, or orphaned by the garbage collector.
  if (!isControlledBy(workload, hostedControlPlane)) return undefined;
  const shown = `${kind.kind} ${JSON.stringify(key.name)}`;
  const { uid, resourceVersion, deletionTimestamp } = workload.metadata;
  if (!isBeingDeleted(workload)) {
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    const options = { preconditions, propagationPolicy: 'Foreground' as const, signal };
    await world.writes.make(`delete-${component}`, () => client.delete(kind, key, options));
  } else if (world.clock.now() - Date.parse(deletionTimestamp!) >= patienceMs) {
    const verdict = await verdictOfPods(deletion, component);
    const message = `${shown} waits for its dependents, such as PersistentVolumeClaims`;
    return verdict ?? { reason: 'WaitingForDependents', message, requeueAfterMs: patienceMs };
  }
  return { reason: 'WaitingForPods', message: `waiting for the Pods of ${shown}`, requeueAfterMs: patienceMs };
}

/** Shortens the grace period of API servers whose etcd is being deleted: they wait for it in vain. */
async function endStranded(deletion: Deletion): Promise<void> {
  const { hostedControlPlane, client, world, signal } = deletion;
  const { namespace } = hostedControlPlane.metadata;
  const etcd = await findObject(deletion, StatefulSet, { namespace, name: workloadName(planeName(deletion), 'etcd') });
  if (etcd && !isBeingDeleted(etcd)) return;
  for (const { metadata } of await podsOf(deletion, 'kube-apiserver')) {
    const { name, uid, deletionGracePeriodSeconds: grace } = metadata;
    if (grace !== undefined && grace <= strandedGraceSeconds) continue;
    const options = { gracePeriodSeconds: strandedGraceSeconds, preconditions: { uid: uid! }, signal };
    await world.writes.make('delete-pod', () => client.delete(Pod, { namespace, name: name! }, options));
  }
}

/** Pods are named after the Cluster. The annotation exists since the finalizer does. */
const planeName = ({ hostedControlPlane: { metadata }, hostedControlPlane }: Deletion): { readonly name: string } => ({
  name: metadata.annotations?.[annotations.clusterName] ?? ownerOf(hostedControlPlane)?.name ?? metadata.name!,
});

async function verdictOfPods(deletion: Deletion, component: Component): Promise<Verdict | undefined> {
  const { world } = deletion;
  const items = await podsOf(deletion, component);
  if (items.length === 0) return undefined;
  const overdue = items.filter((pod) => isOverdue(pod, world.clock.now()));
  if (overdue.length === 0) {
    return {
      reason: 'WaitingForPods',
      message: `waiting for ${shownPods(component, items)}`,
      requeueAfterMs: podsPollMs,
    };
  }
  const advice = 'check their Nodes, or delete the Pods with --force if their processes have exited';
  const message = `${shownPods(component, overdue)} did not terminate within the grace period: ${advice}`;
  return { reason: 'PodsNotTerminating', message, requeueAfterMs: patienceMs };
}

async function podsOf(deletion: Deletion, component: Component): Promise<readonly Pod[]> {
  const { apiReader, hostedControlPlane, signal } = deletion;
  const { namespace } = hostedControlPlane.metadata;
  const labelSelector = { [clusterNameLabel]: planeName(deletion).name, 'app.kubernetes.io/component': component };
  return (await apiReader.list(Pod, { namespace, labelSelector, signal })).items;
}

/** The deletion timestamp of a pod is the end of its grace period. */
const isOverdue = ({ metadata: { deletionTimestamp } }: Pod, nowMs: number): boolean =>
  deletionTimestamp !== undefined && nowMs - Date.parse(deletionTimestamp) > overdueMs;

function shownPods(component: Component, pods: readonly Pod[]): string {
  const names = pods.map(({ metadata, spec }) => {
    const node = spec?.nodeName === undefined ? '' : ` on Node ${JSON.stringify(spec.nodeName)}`;
    return `${JSON.stringify(metadata.name)}${node}`;
  });
  const rest = names.length - namesMax;
  const shown = names.sort().slice(0, namesMax).join(', ');
  return `Pods of ${component}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`;
}
