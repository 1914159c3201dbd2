/** The status of a pod from the states of its containers, with the rules of the kubelet. */

import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@hangar/client/kinds/core-v1';

export interface StatusInput {
  readonly pod: Pod;
  readonly podIP: string;
  readonly hostIP: string;
  readonly startTime: string;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** A phase that does not follow from the containers: the deadline of the pod has passed, or it is rejected. */
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
  /** All containers have ended and none is started again. */
  readonly isFinished: boolean;
  readonly now: string;
}

type Phase = NonNullable<PodStatus['phase']>;

export function podStatus(input: StatusInput): PodStatus {
  const { pod, podIP, hostIP, startTime, initStatuses, statuses, failure } = input;
  const phase = phaseOf(input);
  return {
    phase,
    ...(failure ? { reason: failure.reason, message: failure.message } : {}),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime,
    ...(initStatuses.length > 0 ? { initContainerStatuses: [...initStatuses] } : {}),
    containerStatuses: [...statuses],
    qosClass: pod.status?.qosClass ?? 'BestEffort',
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    conditions: conditionsOf(input, phase),
  };
}

function phaseOf({ pod, initStatuses, statuses, failure, isFinished }: StatusInput): Phase {
  if (failure) return 'Failed';
  // A finished pod does not run again.
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return pod.status.phase;
  if (isFinished) {
    const initFailed = plainInits(pod, initStatuses).some(
      ({ state }) => state?.terminated && state.terminated.exitCode !== 0,
    );
    const succeeded = statuses.every(({ state }) => state?.terminated?.exitCode === 0);
    return succeeded && !initFailed ? 'Succeeded' : 'Failed';
  }
  if (!isInitialized(pod, initStatuses)) return 'Pending';
  const hasBegun = statuses.every(
    ({ state, lastState }) => state?.running || state?.terminated || lastState?.terminated,
  );
  return hasBegun ? 'Running' : 'Pending';
}

/** Init containers that must complete, without sidecars. */
const plainInits = (pod: Pod, statuses: readonly ContainerStatus[]): ContainerStatus[] =>
  statuses.filter(({ name }) => !isSidecar(pod, name));

export const isSidecar = (pod: Pod, name: string): boolean =>
  pod.spec?.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always') === true;

const isInitialized = (pod: Pod, statuses: readonly ContainerStatus[]): boolean =>
  statuses.every(({ name, state, started }) =>
    isSidecar(pod, name) ? started === true : state?.terminated?.exitCode === 0,
  ) ||
  // Initialization is not repeated while a sidecar restarts.
  pod.status?.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True') === true;

function conditionsOf(input: StatusInput, phase: Phase): PodCondition[] {
  const { pod, initStatuses, statuses } = input;
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const initialized = isInitialized(pod, initStatuses);
  const incomplete = initStatuses
    .filter(({ name, state, started }) => (isSidecar(pod, name) ? !started : state?.terminated?.exitCode !== 0))
    .map(({ name }) => name);
  const unready = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const containersReady = initialized && unready.length === 0 && !isOver;
  const gates = (pod.spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
  const closedGates = gates.filter((type) => conditionIn(pod, type)?.status !== 'True');
  const completed = phase === 'Succeeded' ? { reason: 'PodCompleted' } : undefined;
  const why = completed ?? (phase === 'Failed' ? { reason: 'PodFailed' } : notReady(unready));
  const ready: Wanted =
    containersReady && closedGates.length > 0
      ? {
          type: 'Ready',
          isTrue: false,
          reason: 'ReadinessGatesNotReady',
          message: closedGates
            .map((type) => `corresponding condition of pod readiness gate ${JSON.stringify(type)} does not exist.`)
            .join(', '),
        }
      : { type: 'Ready', isTrue: containersReady, ...(containersReady ? {} : why) };
  const wanted: Wanted[] = [
    { type: 'PodReadyToStartContainers', isTrue: !isOver },
    {
      type: 'Initialized',
      isTrue: initialized,
      ...(initialized
        ? completed
        : {
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: [${incomplete.join(' ')}]`,
          }),
    },
    ready,
    { type: 'ContainersReady', isTrue: containersReady, ...(containersReady ? {} : why) },
    { type: 'PodScheduled', isTrue: true },
  ];
  return merged(pod, wanted, input.now);
}

const notReady = (unready: readonly string[]): { reason: string; message: string } => ({
  reason: 'ContainersNotReady',
  message: `containers with unready status: [${unready.join(' ')}]`,
});

interface Wanted {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason?: string;
  readonly message?: string;
}

const conditionIn = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((one) => one.type === type);

/** Keeps the conditions of other controllers, and the time of conditions whose status stays. */
function merged(pod: Pod, wanted: readonly Wanted[], now: string): PodCondition[] {
  const own = new Set(wanted.map(({ type }) => type));
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !own.has(type));
  const { generation } = pod.metadata;
  return [
    ...others,
    ...wanted.map(({ type, isTrue, reason, message }): PodCondition => {
      const status = isTrue ? 'True' : 'False';
      const before = conditionIn(pod, type);
      const since = before?.status === status ? before.lastTransitionTime : undefined;
      return {
        type,
        status,
        lastTransitionTime: since ?? now,
        ...(generation === undefined ? {} : { observedGeneration: generation }),
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
      };
    }),
  ];
}
