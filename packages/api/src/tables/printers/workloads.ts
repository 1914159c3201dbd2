/** Workloads: apps, batch, policy, replication controllers, pod templates and groups, scale. */

import type { KubeObject } from '../../object.ts';
import { ageOf, humanDuration, since, timeMs } from '../age.ts';
import { labelsText, none, selectorCell, selectorText } from '../selector-text.ts';
import type { Labels, LabelSelector } from '../selector-text.ts';
import { containerCells, groupedName, isTrue, printer, unset } from './printer.ts';
import type { PodTemplate, Printers, WithConditions } from './printer.ts';

interface Replicated<Selector = LabelSelector> {
  readonly spec?: { readonly replicas?: number; readonly selector?: Selector; readonly template?: PodTemplate };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

interface DaemonSet {
  readonly spec?: { readonly selector?: LabelSelector; readonly template?: PodTemplate };
  readonly status?: {
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
  };
}

interface JobSpec {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
}

interface Job {
  readonly spec?: JobSpec;
  readonly status?: WithConditions & {
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly succeeded?: number;
  };
}

interface CronJob {
  readonly spec?: {
    readonly schedule?: string;
    readonly timeZone?: string;
    readonly suspend?: boolean;
    readonly jobTemplate?: { readonly spec?: JobSpec };
  };
  readonly status?: { readonly active?: readonly object[]; readonly lastScheduleTime?: string };
}

interface DisruptionBudget {
  readonly spec?: { readonly minAvailable?: number | string; readonly maxUnavailable?: number | string };
  readonly status?: { readonly disruptionsAllowed?: number };
}

interface PodGroup {
  readonly spec?: {
    readonly schedulingPolicy?: { readonly gang?: object };
    readonly podGroupTemplateRef?: { readonly workload?: { readonly workloadName?: string } };
  };
  readonly status?: WithConditions;
}

const replicaCells = (set: KubeObject & Replicated<unknown>, now: number): unknown[] => [
  set.metadata.name,
  set.spec?.replicas ?? 0,
  set.status?.replicas ?? 0,
  set.status?.readyReplicas ?? 0,
  ageOf(set, now),
  ...containerCells(set.spec?.template),
];

const readyCell = ({ spec, status }: Replicated): string => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;

function completionsCell({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Job, now: number): string {
  if (status?.startTime === undefined) return '';
  return humanDuration((timeMs(status.completionTime) ?? now) - (timeMs(status.startTime) ?? 0));
}

function jobStatus({ metadata, status }: KubeObject & Job): string {
  if (isTrue('Complete', status)) return 'Complete';
  if (isTrue('Failed', status)) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(type, status)) ?? 'Running';
}

const suspendCell = (suspend: boolean | undefined): string =>
  suspend === undefined ? unset : suspend ? 'True' : 'False';

/** `statefulset.apps/web`. */
function controllerCell({ metadata }: KubeObject): string {
  const controller = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!controller) return none;
  const { apiVersion, kind, name } = controller;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return `${groupedName(kind, group).toLowerCase()}/${name}`;
}

function podGroupStatus({ status }: PodGroup): string {
  const last = (type: string) => status?.conditions?.findLast((condition) => condition.type === type);
  const disruption = last('DisruptionTarget');
  if (disruption) return disruption.reason ?? '';
  const scheduled = last('PodGroupScheduled');
  return !scheduled ? 'Pending' : scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

export const workloadPrinters: Printers = {
  '/PodTemplate': printer<{ template?: PodTemplate }>(({ metadata, template }) => [
    metadata.name,
    ...containerCells(template),
    labelsText(template?.metadata?.labels),
  ]),
  '/ReplicationController': printer<Replicated<Labels>>((controller, now) => [
    ...replicaCells(controller, now),
    labelsText(controller.spec?.selector),
  ]),
  'apps/ReplicaSet': printer<Replicated>((set, now) => [...replicaCells(set, now), selectorCell(set.spec?.selector)]),
  'apps/Deployment': printer<Replicated>((deployment, now) => [
    deployment.metadata.name,
    readyCell(deployment),
    deployment.status?.updatedReplicas ?? 0,
    deployment.status?.availableReplicas ?? 0,
    ageOf(deployment, now),
    ...containerCells(deployment.spec?.template),
    // The only kind that does not show `<none>`.
    selectorText(deployment.spec?.selector) ?? '<invalid>',
  ]),
  'apps/StatefulSet': printer<Replicated>((set, now) => [
    set.metadata.name,
    readyCell(set),
    ageOf(set, now),
    ...containerCells(set.spec?.template),
  ]),
  'apps/DaemonSet': printer<DaemonSet>((set, now) => [
    set.metadata.name,
    set.status?.desiredNumberScheduled ?? 0,
    set.status?.currentNumberScheduled ?? 0,
    set.status?.numberReady ?? 0,
    set.status?.updatedNumberScheduled ?? 0,
    set.status?.numberAvailable ?? 0,
    labelsText(set.spec?.template?.spec?.nodeSelector),
    ageOf(set, now),
    ...containerCells(set.spec?.template),
    selectorCell(set.spec?.selector),
  ]),
  'apps/ControllerRevision': printer<{ revision?: number }>((revision, now) => [
    revision.metadata.name,
    controllerCell(revision),
    revision.revision ?? 0,
    ageOf(revision, now),
  ]),
  'batch/Job': printer<Job>((job, now) => [
    job.metadata.name,
    jobStatus(job),
    completionsCell(job),
    durationCell(job, now),
    ageOf(job, now),
    ...containerCells(job.spec?.template),
    selectorCell(job.spec?.selector),
  ]),
  'batch/CronJob': printer<CronJob>((cronJob, now) => [
    cronJob.metadata.name,
    cronJob.spec?.schedule ?? '',
    cronJob.spec?.timeZone ?? none,
    suspendCell(cronJob.spec?.suspend),
    cronJob.status?.active?.length ?? 0,
    cronJob.status?.lastScheduleTime === undefined ? none : since(cronJob.status.lastScheduleTime, now),
    ageOf(cronJob, now),
    ...containerCells(cronJob.spec?.jobTemplate?.spec?.template),
    selectorCell(cronJob.spec?.jobTemplate?.spec?.selector),
  ]),
  'policy/PodDisruptionBudget': printer<DisruptionBudget>((budget, now) => [
    budget.metadata.name,
    String(budget.spec?.minAvailable ?? 'N/A'),
    String(budget.spec?.maxUnavailable ?? 'N/A'),
    budget.status?.disruptionsAllowed ?? 0,
    ageOf(budget, now),
  ]),
  'scheduling.k8s.io/PodGroup': printer<PodGroup>((group, now) => [
    group.metadata.name,
    group.spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic',
    group.spec?.podGroupTemplateRef ? (group.spec.podGroupTemplateRef.workload?.workloadName ?? '') : none,
    podGroupStatus(group),
    ageOf(group, now),
  ]),
  'autoscaling/Scale': printer<Replicated<unknown>>((scale, now) => [
    scale.metadata.name,
    scale.spec?.replicas ?? 0,
    scale.status?.replicas ?? 0,
    ageOf(scale, now),
  ]),
};
