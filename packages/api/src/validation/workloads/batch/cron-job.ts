/** CronJobs. */

import type { KubeObject } from '../../../object.ts';
import { invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { byteLength } from '../../formats.ts';
import { checkNotNegative, checkRequiredOneOf } from '../base/checks.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { podRules } from '../pod/rules.ts';
import { makerNameWarnings } from '../pod/warnings.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { jobSpecWarnings } from './job.ts';
import { checkJobSpec } from './job-spec.ts';
import { checkTimeZone } from './time-zone.ts';
import type { CronJobSpec, JobSpec } from './types.ts';

/** Names of its Jobs have eleven characters more. */
const nameMax = 52;

const specOf = (object: KubeObject): CronJobSpec => (object['spec'] ?? {}) as CronJobSpec;

function checkSpec(errors: FieldError[], spec: CronJobSpec, old: CronJobSpec | undefined): void {
  checkSchedule(errors, 'spec.schedule', spec, old);
  checkNotNegative(errors, 'spec.startingDeadlineSeconds', spec.startingDeadlineSeconds);
  if (!old || old.timeZone !== spec.timeZone) checkTimeZone(errors, 'spec.timeZone', spec.timeZone);
  const policies = ['Allow', 'Forbid', 'Replace'];
  checkRequiredOneOf(errors, 'spec.concurrencyPolicy', spec.concurrencyPolicy ?? '', policies);
  checkTemplate(errors, 'spec.jobTemplate.spec', spec.jobTemplate?.spec ?? {}, old?.jobTemplate?.spec);
  checkNotNegative(errors, 'spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit);
  checkNotNegative(errors, 'spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit);
}

function checkSchedule(
  errors: FieldError[],
  path: string,
  { schedule = '', timeZone }: CronJobSpec,
  old: CronJobSpec | undefined,
): void {
  if (schedule === '') {
    errors.push(required(path, ''));
    return;
  }
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) errors.push(invalid(path, schedule, problem));
  if (!schedule.includes('TZ')) return;
  if (!old?.schedule?.includes('TZ')) {
    errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  } else if (timeZone !== undefined) {
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
}

function checkTemplate(errors: FieldError[], path: string, spec: JobSpec, old: JobSpec | undefined): void {
  checkJobSpec(errors, path, spec, podRules(false, old?.template));
  if (spec.selector) {
    errors.push(invalid(`${path}.selector`, goLabelSelector(spec.selector), '`selector` will be auto-generated'));
  }
  if (spec.manualSelector) errors.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
}

export const cronJob: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), undefined);
    const name = object.metadata.name ?? '';
    if (byteLength(name) > nameMax) {
      errors.push(invalid('metadata.name', name, `must be no more than ${nameMax} characters`));
    }
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource !== 'status') checkSpec(errors, specOf(object), specOf(old));
    return errors;
  },
  warnings(object, old) {
    const { jobTemplate, schedule = '' } = specOf(object);
    const isChanged = !old || object.metadata.generation !== old.metadata.generation;
    return [
      ...(old ? [] : makerNameWarnings(object.metadata.name ?? '')),
      ...(isChanged ? jobSpecWarnings('spec.jobTemplate.spec', jobTemplate?.spec ?? {}) : []),
      ...(old && schedule.includes('TZ')
        ? [
            'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
          ]
        : []),
    ];
  },
};
