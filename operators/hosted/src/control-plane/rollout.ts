/** How far a roll-out is, from the status of a workload. */

import type { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import type { ContainerState, Pod } from '@hangar/client/kinds/core-v1';

export interface DeploymentReport {
  readonly desired: number;
  readonly replicas: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
  /** All pods have the desired template and are available. */
  readonly isComplete: boolean;
}

export function deploymentReport({ metadata, spec, status = {} }: Deployment): DeploymentReport {
  const desired = spec?.replicas ?? 1;
  const {
    replicas = 0,
    readyReplicas = 0,
    availableReplicas = 0,
    updatedReplicas = 0,
    observedGeneration = 0,
  } = status;
  // Counts of an older generation are of the previous template.
  const isObserved = observedGeneration >= (metadata.generation ?? 0);
  const updated = isObserved ? updatedReplicas : 0;
  const isComplete = isObserved && [replicas, updatedReplicas, availableReplicas].every((count) => count === desired);
  return { desired, replicas, ready: readyReplicas, available: availableReplicas, updated, isComplete };
}

export interface MemberReport {
  readonly desired: number;
  readonly ready: number;
  readonly hasQuorum: boolean;
  readonly isComplete: boolean;
}

export function memberReport({ metadata, spec, status }: StatefulSet): MemberReport {
  const desired = spec?.replicas ?? 1;
  const { readyReplicas: ready = 0, updatedReplicas = 0, observedGeneration = 0 } = status ?? {};
  const isObserved = observedGeneration >= (metadata.generation ?? 0);
  return {
    desired,
    ready,
    hasQuorum: ready > desired / 2,
    isComplete: isObserved && ready === desired && updatedReplicas === desired,
  };
}

/** Of the error ENOSPC, and of the alarm of etcd. */
const noSpace = /no space left on device|database space exceeded/;

const crash = (what: string, lastState: ContainerState | undefined): PodTrouble => {
  const log = lastState?.terminated?.message?.trim() ?? '';
  const reason = noSpace.test(log) ? 'NoSpace' : 'ContainerCrashes';
  const line = log.split('\n').findLast((one) => reason !== 'NoSpace' || noSpace.test(one));
  return { reason, message: line ? `${what}: ${line}` : `${what}: read its logs` };
};

const pullReasons = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const configurationReasons = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

export interface PodTrouble {
  readonly reason: string;
  readonly message: string;
}

/** A pod whose claim is not bound yet is unschedulable for a moment. */
const schedulableWithinMs = 5_000;

/** Returns the first problem of pods that does not go away by waiting. */
export function podTrouble(pods: readonly Pod[], nowMs: number): PodTrouble | undefined {
  for (const { metadata, status } of pods) {
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name, state, lastState, restartCount, image } of statuses) {
      const { reason = '', message = '' } = state?.waiting ?? {};
      const where = `container ${name} of Pod ${JSON.stringify(metadata.name)}`;
      if (pullReasons.has(reason))
        return { reason: 'ImagePullFailed', message: `${where} cannot pull ${image}: ${message}` };
      if (configurationReasons.has(reason)) return { reason: 'ContainerNotCreated', message: `${where}: ${message}` };
      if (reason === 'CrashLoopBackOff') return crash(`${where} has exited ${restartCount} times`, lastState);
    }
    const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const sinceMs = Date.parse(scheduled?.lastTransitionTime ?? metadata.creationTimestamp ?? '');
    const isRecent = nowMs - sinceMs < schedulableWithinMs;
    if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' && !isRecent) {
      return {
        reason: 'PodUnschedulable',
        message: `Pod ${JSON.stringify(metadata.name)}: ${scheduled.message ?? ''}`,
      };
    }
  }
  return undefined;
}
