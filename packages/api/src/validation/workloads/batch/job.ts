/** Jobs. */

import type { KubeObject } from '../../../object.ts';
import { child, invalid, key, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { dnsLabelReasons } from '../../formats.ts';
import { has, immutableReason, isSet } from '../base/checks.ts';
import { goLabelSelector, goMap } from '../base/go-values.ts';
import { hasInvalidValues, selects } from '../base/label-selectors.ts';
import { equalPointers, equalStructs } from '../../../fields/semantic-equality.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { makerNameWarnings, templateWarnings } from '../pod/warnings.ts';
import { serverForm } from '../server-form/render.ts';
import type { Container, PodSpec, PodTemplate } from '../types/pod.ts';
import { checkSelectedJobSpec } from './job-spec.ts';
import { checkJobStatus } from './job-status.ts';
import type { JobSpec, JobStatus } from './types.ts';

const specOf = (job: KubeObject): JobSpec => (job['spec'] ?? {}) as JobSpec;
const statusOf = (job: KubeObject): JobStatus => (job['status'] ?? {}) as JobStatus;

const controllerLabel = 'batch.kubernetes.io/controller-uid';
const jobNameLabel = 'batch.kubernetes.io/job-name';

function checkJob(errors: FieldError[], job: KubeObject, rules: PodRules, needsPrefixedLabels: boolean): void {
  const spec = specOf(job);
  checkGeneratedSelector(errors, job, needsPrefixedLabels);
  checkSelectedJobSpec(errors, 'spec', spec, rules);
  const { completionMode, completions = 0 } = spec;
  if (completionMode !== 'Indexed' || completions <= 0) return;
  // Pods of an Indexed Job have these names as host names.
  const name = job.metadata.name ?? '';
  const last = `${name}-${completions - 1}`;
  if (dnsLabelReasons(last).length > 0) {
    errors.push(invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`));
  }
}

/** By default the server generates the selector from the Job's own uid. */
function checkGeneratedSelector(errors: FieldError[], job: KubeObject, needsPrefixedLabels: boolean): void {
  const { manualSelector, selector, template } = specOf(job);
  if (manualSelector || !selector) return;
  const { uid = '', name = '' } = job.metadata;
  if (uid === '') errors.push(required('metadata.uid', ''));
  const labels = template?.metadata?.labels;
  const expected: Record<string, string> = { 'controller-uid': uid, 'job-name': name };
  if (needsPrefixedLabels) Object.assign(expected, { [controllerLabel]: uid, [jobNameLabel]: name });
  for (const [label, value] of Object.entries(expected)) {
    const path = key('spec.template.metadata.labels', label);
    if (!has(labels, label)) errors.push(required(path, `must be '${value}'`));
    else if (labels![label] !== value) errors.push(invalid(path, goMap(labels), `must be '${value}'`));
  }
  if (selects(selector, expected) === false) {
    errors.push(invalid('spec.selector', goLabelSelector(selector), '`selector` not auto-generated'));
  }
}

function checkUpdate(errors: FieldError[], job: KubeObject, oldJob: KubeObject): void {
  const [spec, old] = [specOf(job), specOf(oldJob)];
  const own = podRules(false, old.template);
  const allowsInvalidSelectorValues = own.allowsInvalidSelectorValues || hasInvalidValues(old.selector);
  const rules = { ...own, allowsInvalidSelectorValues };
  const labels = old.template?.metadata?.labels;
  checkJob(errors, job, rules, has(labels, jobNameLabel) && has(labels, controllerLabel));
  checkSelectedJobSpec(errors, 'spec', spec, rules);
  checkCompletions(errors, 'spec.completions', spec, old);
  if (!equalPointers('meta/v1.LabelSelector', spec.selector, old.selector)) {
    errors.push(invalid('spec.selector', goLabelSelector(spec.selector), immutableReason));
  }
  checkTemplateUpdate(errors, spec, old, mayChangeTemplate(old, statusOf(oldJob)));
  checkSame(errors, 'spec.completionMode', spec.completionMode, old.completionMode);
  checkSamePolicy(errors, 'podFailurePolicy', 'PodFailurePolicy', spec, old);
  checkSame(errors, 'spec.backoffLimitPerIndex', spec.backoffLimitPerIndex, old.backoffLimitPerIndex);
  checkSame(errors, 'spec.managedBy', spec.managedBy, old.managedBy);
  checkSamePolicy(errors, 'successPolicy', 'SuccessPolicy', spec, old);
}

function checkSame(errors: FieldError[], path: string, value: unknown, old: unknown): void {
  if ((value ?? undefined) !== (old ?? undefined)) errors.push(invalid(path, value ?? null, immutableReason));
}

function checkSamePolicy(
  errors: FieldError[],
  field: 'podFailurePolicy' | 'successPolicy',
  struct: string,
  spec: JobSpec,
  old: JobSpec,
): void {
  if (equalPointers(`batch/v1.${struct}`, spec[field], old[field])) return;
  errors.push(invalid(child('spec', field), serverForm(struct, spec[field]), immutableReason));
}

/** An Indexed Job may scale, with as many pods as completions. */
function checkCompletions(errors: FieldError[], path: string, spec: JobSpec, old: JobSpec): void {
  const { completions, parallelism, completionMode } = spec;
  if (completionMode !== 'Indexed') {
    checkSame(errors, path, completions, old.completions);
    return;
  }
  if (completions === old.completions || !isSet(completions) || completions === parallelism) return;
  errors.push(invalid(path, completions, 'can only be modified in tandem with spec.parallelism'));
}

/** Reports whether no pod runs or is expected to run. */
function mayChangeTemplate({ suspend }: JobSpec, { startTime, conditions, active = 0 }: JobStatus): boolean {
  const isSuspended = (conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'True');
  return suspend === true && (!isSet(startTime) || isSuspended) && active === 0;
}

function checkTemplateUpdate(errors: FieldError[], spec: JobSpec, old: JobSpec, mayChange: boolean): void {
  const template = spec.template ?? {};
  const before = mayChange ? withSchedulingOf(template, old.template ?? {}) : (old.template ?? {});
  if (!mayChange) {
    if (equalStructs('core/v1.PodTemplateSpec', template, before)) return;
    errors.push(invalid('spec.template', serverForm('PodTemplateSpec', template), immutableReason));
    return;
  }
  const expected = withResourcesOf(template.spec ?? {}, before.spec ?? {});
  if (equalStructs('core/v1.PodSpec', template.spec, expected)) return;
  errors.push(invalid('spec.template.spec', serverForm('PodSpec', template.spec ?? {}), immutableReason));
}

/** Returns the old template with the scheduling fields of the new one, which job queues set late. */
function withSchedulingOf(template: PodTemplate, old: PodTemplate): PodTemplate {
  const [spec, before] = [template.spec ?? {}, old.spec ?? {}];
  const { affinity: _, ...others } = before;
  const { nodeAffinity: __, ...kept } = before.affinity ?? {};
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const isNeeded = spec.affinity || Object.values(kept).some(isSet);
  const affinity = { ...kept, ...(nodeAffinity ? { nodeAffinity } : {}) };
  return {
    metadata: {
      ...old.metadata,
      annotations: template.metadata?.annotations ?? {},
      labels: template.metadata?.labels ?? {},
    },
    spec: {
      ...others,
      ...(isNeeded ? { affinity } : {}),
      nodeSelector: spec.nodeSelector ?? null,
      tolerations: spec.tolerations ?? null,
      schedulingGates: spec.schedulingGates ?? null,
    },
  };
}

function withResourcesOf(spec: PodSpec, old: PodSpec): PodSpec {
  const merge = (kind: 'containers' | 'initContainers'): readonly Container[] => {
    const [now, before] = [spec[kind] ?? [], old[kind] ?? []];
    if (now.length !== before.length) return before;
    return before.map((container, i) =>
      container.name === now[i]!.name ? { ...container, resources: now[i]!.resources ?? {} } : container,
    );
  };
  return { ...old, containers: merge('containers'), initContainers: merge('initContainers') };
}

/** Above this the server cannot guarantee tracking. */
const completionsSoftMax = 100_000;
const parallelismSoftMax = 10_000;

export function jobSpecWarnings(path: string, spec: JobSpec): string[] {
  const { completionMode, completions = 0, parallelism = 0, template = {} } = spec;
  const isLarge = completions > completionsSoftMax && parallelism > parallelismSoftMax;
  const message =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [
    ...(completionMode === 'Indexed' && isLarge ? [`${path}: ${message}`] : []),
    ...templateWarnings(child(path, 'template'), template),
  ];
}

export const job: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkJob(errors, object, podRules(false), true);
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource !== 'status') checkUpdate(errors, object, old);
    else checkJobStatus(errors, 'status', { spec: specOf(object), status: statusOf(object), before: statusOf(old) });
    return errors;
  },
  warnings(object, old) {
    if (old && object.metadata.generation === old.metadata.generation) return [];
    return [...(old ? [] : makerNameWarnings(object.metadata.name ?? '')), ...jobSpecWarnings('spec', specOf(object))];
  },
};
