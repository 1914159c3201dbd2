/** Status of a Job: it only moves forward, and a finished Job stays finished. */

import { child, duplicate, index, invalid, noValue, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { parseTime } from '../../../values/time.ts';
import { checkNotNegative, immutableReason, isSet } from '../base/checks.ts';
import { equalPointers } from '../../../fields/semantic-equality.ts';
import { serverForm } from '../server-form/render.ts';
import { overlap, parseIndexes } from './indexes.ts';
import type { JobSpec, JobStatus } from './types.ts';

interface Report {
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly before: JobStatus;
}

const isTrue = ({ conditions }: JobStatus, type: string): boolean =>
  (conditions ?? []).some((one) => one.type === type && one.status === 'True');
const isFalse = ({ conditions }: JobStatus, type: string): boolean =>
  (conditions ?? []).some((one) => one.type === type && one.status === 'False');
const isFinished = (status: JobStatus): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed');

/** Rules newer than the stored status apply to changed fields. */
function changesOf({ status, before }: Report) {
  const differs = (type: string): boolean => isTrue(status, type) !== isTrue(before, type);
  const times = (name: 'startTime' | 'completionTime'): boolean => !equalTimes(status[name], before[name]);
  return {
    finished: isFinished(status) !== isFinished(before),
    complete: differs('Complete'),
    failed: differs('Failed'),
    failureTarget: differs('FailureTarget'),
    successCriteria: differs('SuccessCriteriaMet'),
    completedIndexes: (status.completedIndexes ?? '') !== (before.completedIndexes ?? ''),
    failedIndexes: (status.failedIndexes ?? undefined) !== (before.failedIndexes ?? undefined),
    active: (status.active ?? 0) !== (before.active ?? 0),
    ready: (status.ready ?? undefined) !== (before.ready ?? undefined),
    terminating: (status.terminating ?? undefined) !== (before.terminating ?? undefined),
    startTime: times('startTime'),
    completionTime: times('completionTime'),
    uncounted: !equalPointers(
      'batch/v1.UncountedTerminatedPods',
      status.uncountedTerminatedPods,
      before.uncountedTerminatedPods,
    ),
  };
}

type Changes = ReturnType<typeof changesOf>;

const secondsOf = (time: string): number => parseTime(time, 'second').seconds;

function equalTimes(a: string | undefined, b: string | undefined): boolean {
  return isSet(a) && isSet(b) ? secondsOf(a) === secondsOf(b) : isSet(a) === isSet(b);
}

export function checkJobStatus(errors: FieldError[], path: string, report: Report): void {
  const { status } = report;
  const changes = changesOf(report);
  for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    checkNotNegative(errors, child(path, name), status[name]);
  }
  checkUncounted(errors, child(path, 'uncountedTerminatedPods'), status);
  checkEnd(errors, path, status, changes);
  checkFinished(errors, path, report, changes);
  checkIndexes(errors, path, report, changes);
  checkPods(errors, path, status, changes);
  checkSuccess(errors, child(path, 'conditions'), report);
  checkProgress(errors, path, report, changes);
}

function checkUncounted(errors: FieldError[], path: string, { uncountedTerminatedPods: pods }: JobStatus): void {
  const seen = new Set<string>();
  for (const kind of ['succeeded', 'failed'] as const) {
    for (const [i, uid] of (pods?.[kind] ?? []).entries()) {
      const at = index(child(path, kind), i);
      if (uid === '') errors.push(invalid(at, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(at, uid));
      seen.add(uid);
    }
  }
}

function checkEnd(errors: FieldError[], path: string, status: JobStatus, changes: Changes): void {
  const isComplete = isTrue(status, 'Complete');
  const refuse = (reason: string): void => {
    errors.push(invalid(child(path, 'conditions'), noValue, reason));
  };
  if ((changes.complete || changes.failed) && isComplete && isTrue(status, 'Failed')) {
    refuse('cannot set Complete=True and Failed=true conditions');
  }
  if ((changes.complete || changes.failureTarget) && isComplete && isTrue(status, 'FailureTarget')) {
    refuse('cannot set Complete=True and FailureTarget=true conditions');
  }
  const { startTime, completionTime } = status;
  const at = child(path, 'completionTime');
  if (changes.complete || changes.completionTime) {
    if (isSet(completionTime) && !isComplete) {
      const reason = 'cannot set completionTime when there is no Complete=True condition';
      errors.push(invalid(at, completionTime, reason));
    }
    if (!isSet(completionTime) && isComplete) {
      errors.push(required(at, 'completionTime is required for Complete jobs'));
    }
  }
  const isTimed = (changes.startTime || changes.completionTime) && isSet(startTime) && isSet(completionTime);
  if (isTimed && secondsOf(completionTime!) < secondsOf(startTime!)) {
    errors.push(invalid(at, completionTime, 'must be equal to or after `startTime`'));
  }
  if ((changes.failed || changes.failedIndexes) && isTrue(status, 'Failed') && !isTrue(status, 'FailureTarget')) {
    refuse('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if ((changes.complete || changes.successCriteria) && isComplete && !isTrue(status, 'SuccessCriteriaMet')) {
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function checkFinished(errors: FieldError[], path: string, { spec, status }: Report, changes: Changes): void {
  if (!isFinished(status)) return;
  const { active = 0, startTime, uncountedTerminatedPods: pods } = status;
  if ((changes.finished || changes.active) && active > 0) {
    errors.push(invalid(child(path, 'active'), active, 'active>0 is invalid for finished job'));
  }
  const neverStarts = spec.suspend === true && spec.completions === 0;
  if ((changes.finished || changes.startTime) && !neverStarts && !isSet(startTime)) {
    errors.push(required(child(path, 'startTime'), 'startTime is required for finished job'));
  }
  const count = (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0);
  if ((changes.finished || changes.uncounted) && count > 0) {
    const shown = serverForm('UncountedTerminatedPods', pods);
    errors.push(invalid(child(path, 'uncountedTerminatedPods'), shown, 'must be empty for finished job'));
  }
}

function checkIndexes(errors: FieldError[], path: string, { spec, status }: Report, changes: Changes): void {
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const { completions, backoffLimitPerIndex, completionMode } = spec;
  const [completedPath, failedPath] = [child(path, 'completedIndexes'), child(path, 'failedIndexes')];
  const parse = (at: string, name: string, text: string): void => {
    const parsed = parseIndexes(text, completions!);
    if ('problem' in parsed) errors.push(invalid(at, text, `error parsing ${name}: ${parsed.problem}`));
  };
  if (changes.completedIndexes && isSet(completions)) parse(completedPath, 'completedIndexes', completed);
  if (changes.failedIndexes && isSet(completions) && isSet(backoffLimitPerIndex) && isSet(failed)) {
    parse(failedPath, 'failedIndexes', failed);
  }
  if (changes.completedIndexes && completed !== '' && completionMode !== 'Indexed') {
    const reason = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalid(completedPath, completed, reason));
  }
  if (changes.failedIndexes && !isSet(backoffLimitPerIndex) && isSet(failed)) {
    const reason = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalid(failedPath, failed, reason));
  }
  if (!(changes.failedIndexes || changes.completedIndexes) || !isSet(completions) || !isSet(failed)) return;
  const both = overlap(completed, failed, completions);
  if (both !== undefined) {
    errors.push(invalid(failedPath, failed, `failedIndexes and completedIndexes overlap at index: ${both}`));
  }
}

function checkPods(errors: FieldError[], path: string, status: JobStatus, changes: Changes): void {
  const { terminating = 0, ready = 0, active = 0 } = status;
  if ((changes.finished || changes.terminating) && terminating > 0 && isFinished(status)) {
    errors.push(invalid(child(path, 'terminating'), terminating, 'terminating>0 is invalid for finished job'));
  }
  if ((changes.ready || changes.active) && ready > active) {
    errors.push(invalid(child(path, 'ready'), ready, 'cannot set more ready pods than active'));
  }
}

function checkSuccess(errors: FieldError[], path: string, { spec, status }: Report): void {
  const isMet = isTrue(status, 'SuccessCriteriaMet');
  for (const other of ['Failed', 'FailureTarget']) {
    if (!isMet || !isTrue(status, other)) continue;
    errors.push(invalid(path, noValue, `cannot set SuccessCriteriaMet=True and ${other}=true conditions`));
  }
  if (spec.successPolicy && !isMet && isTrue(status, 'Complete')) {
    const reason = 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True';
    errors.push(invalid(path, noValue, reason));
  }
}

function checkProgress(errors: FieldError[], path: string, { spec, status, before }: Report, changes: Changes): void {
  const conditions = child(path, 'conditions');
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!isTrue(before, type) || isTrue(status, type)) continue;
    errors.push(invalid(conditions, noValue, `cannot disable the terminal ${type}=True condition`));
  }
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const name of ['failed', 'succeeded'] as const) {
    const count = status[name] ?? 0;
    if ((name === 'succeeded' && mayShrink) || count >= (before[name] ?? 0)) continue;
    errors.push(invalid(child(path, name), count, `cannot decrease the ${name} counter`));
  }
  const { completionTime, startTime } = status;
  if (isSet(completionTime) && isSet(before.completionTime) && changes.completionTime) {
    errors.push(invalid(child(path, 'completionTime'), completionTime, immutableReason));
  }
  const isResuming = isTrue(before, 'Suspended') && isFalse(status, 'Suspended');
  if (changes.startTime && !isResuming && isSet(before.startTime) && spec.suspend !== true) {
    const reason = 'field is immutable for unsuspended job once set';
    errors.push(invalid(child(path, 'startTime'), startTime ?? null, reason));
  }
  const [isMet, wasMet] = [isTrue(status, 'SuccessCriteriaMet'), isTrue(before, 'SuccessCriteriaMet')];
  if (wasMet && !isMet) {
    errors.push(invalid(conditions, noValue, 'cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (isTrue(before, 'Complete') && !wasMet && isMet) {
    const reason = 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions';
    errors.push(invalid(conditions, noValue, reason));
  }
}
