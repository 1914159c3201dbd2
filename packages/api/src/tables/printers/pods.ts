/**
 * The cells of a pod. Its status is not its phase, but the most specific report of its containers, read in the order in which they start.
 */

import type { KubeObject } from '../../object.ts';
import { ageOf, humanDuration, timeMs } from '../age.ts';
import type { RowCondition } from '../contract.ts';
import { none } from '../selector-text.ts';
import { isTrue, printer } from './printer.ts';
import type { Condition, Printers } from './printer.ts';

interface Terminated {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly finishedAt?: string | null;
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly running?: object;
    readonly terminated?: Terminated;
  };
  readonly lastState?: { readonly terminated?: Terminated };
}

interface Pod {
  readonly spec?: {
    readonly containers?: readonly object[];
    readonly initContainers?: readonly { readonly name: string; readonly restartPolicy?: string }[];
    readonly nodeName?: string;
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly Condition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly nominatedNodeName?: string;
  };
}

/** State while the containers are read. */
interface Progress {
  reason: string;
  ready: number;
  restarts: Restarts;
}

/** Number of restarts, and the time of the last one, whose age the pod shows. */
interface Restarts {
  count: number;
  lastMs: number | undefined;
}

function addRestarts(restarts: Restarts, { restartCount = 0, lastState }: ContainerStatus): void {
  restarts.count += restartCount;
  const finishedMs = timeMs(lastState?.terminated?.finishedAt);
  if (finishedMs !== undefined && finishedMs > (restarts.lastMs ?? Number.NEGATIVE_INFINITY)) {
    restarts.lastMs = finishedMs;
  }
}

function terminatedReason({ reason, signal, exitCode = 0 }: Terminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function summaryOf({ spec = {}, status = {} }: Pod): Progress & { containers: number } {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const sidecarNames = new Set(sidecars.map(({ name }) => name));
  const isGated = status.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  const progress: Progress = {
    reason: isGated ? 'SchedulingGated' : status.reason || (status.phase ?? ''),
    ready: 0,
    restarts: { count: 0, lastMs: undefined },
  };
  const sidecarRestarts: Restarts = { count: 0, lastMs: undefined };
  const isInitializing = readInitContainers({ spec, status }, sidecarNames, progress, sidecarRestarts);
  if (!isInitializing || isTrue('Initialized', status)) {
    // Terminated init containers no longer count.
    progress.restarts = sidecarRestarts;
    readContainers(status, progress);
  }
  return { ...progress, containers: (spec.containers?.length ?? 0) + sidecars.length };
}

/** Stops at the first that has not terminated; returns true if there is one. */
function readInitContainers(
  { spec = {}, status = {} }: Pod,
  sidecars: ReadonlySet<string>,
  progress: Progress,
  sidecarRestarts: Restarts,
): boolean {
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const { waiting, terminated } = container.state ?? {};
    const isSidecar = sidecars.has(container.name);
    addRestarts(progress.restarts, container);
    if (isSidecar) addRestarts(sidecarRestarts, container);
    if (terminated && (terminated.exitCode ?? 0) === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) progress.ready++;
      continue;
    }
    if (terminated) progress.reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') progress.reason = `Init:${waiting.reason}`;
    else progress.reason = `Init:${index}/${spec.initContainers?.length ?? 0}`;
    return true;
  }
  return false;
}

/** Reads from the last to the first: the first one overrides. */
function readContainers(status: NonNullable<Pod['status']>, progress: Progress): void {
  let hasRunning = false;
  let failure = '';
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    const { waiting, running, terminated } = container.state ?? {};
    addRestarts(progress.restarts, container);
    if (waiting?.reason) {
      progress.reason = waiting.reason;
    } else if (terminated) {
      progress.reason = terminatedReason(terminated);
      if ((terminated.exitCode ?? 0) !== 0) failure = progress.reason;
    } else if (container.ready && running) {
      hasRunning = true;
      progress.ready++;
    }
  }
  if (progress.reason !== 'Completed') return;
  // A terminated container does not describe the others.
  if (hasRunning && status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) {
    progress.reason = 'Running';
  } else if (failure !== '') {
    progress.reason = failure;
  } else if (hasRunning) {
    progress.reason = 'NotReady';
  }
}

function deletionReason({ metadata, status }: KubeObject & Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : 'Terminating';
}

function gatesCell({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  return `${gates.filter(({ conditionType }) => isTrue(conditionType, status)).length}/${gates.length}`;
}

/** The single address takes precedence if both are set and differ: old kubelets set only that. */
const addressCell = ({ podIP, podIPs }: NonNullable<Pod['status']>): string => podIP || podIPs?.[0]?.ip || none;

const completed: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: [
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
  ],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
};

export const podPrinters: Printers = {
  '/Pod': printer<Pod>(
    (pod, now) => {
      const { reason, ready, restarts, containers } = summaryOf(pod);
      const lastRestart =
        restarts.count !== 0 && restarts.lastMs !== undefined ? ` (${humanDuration(now - restarts.lastMs)} ago)` : '';
      return [
        pod.metadata.name,
        `${ready}/${containers}`,
        deletionReason(pod) ?? reason,
        `${restarts.count}${lastRestart}`,
        ageOf(pod, now),
        addressCell(pod.status ?? {}),
        pod.spec?.nodeName || none,
        pod.status?.nominatedNodeName || none,
        gatesCell(pod),
      ];
    },
    {
      conditions: (pod) => {
        const phase = pod.status?.phase ?? '';
        return Object.hasOwn(completed, phase) ? completed[phase] : undefined;
      },
    },
  ),
};
