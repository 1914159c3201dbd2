/** The spec of a Job, also in the template of a CronJob. */

import { child, invalid, notSupported, required, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, dnsSubdomainReasons, regexReason } from '../../formats.ts';
import { checkNotNegative, checkReasons, isSet } from '../base/checks.ts';
import { goMap } from '../base/go-values.ts';
import { checkLabelSelector, selects } from '../base/label-selectors.ts';
import type { PodRules } from '../pod/rules.ts';
import { checkPodTemplate } from '../pod/template.ts';
import { serverForm } from '../server-form/render.ts';
import { checkFailurePolicy, checkReplacementPolicy, checkSuccessPolicy } from './job-policies.ts';
import type { JobSpec } from './types.ts';

const parallelismMax = 100_000;
const failedIndexesMax = 100_000;
/** Above so many completions the status grows too large unless these are lower. */
const manyCompletions = 100_000;
const parallelismOfManyMax = 10_000;
const failedIndexesOfManyMax = 10_000;
const managedByMax = 63;

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** With the selector that a Job has and its template in a CronJob has not. */
export function checkSelectedJobSpec(errors: FieldError[], path: string, spec: JobSpec, rules: PodRules): void {
  checkJobSpec(errors, path, spec, rules);
  const { selector, template = {} } = spec;
  if (!selector) errors.push(required(child(path, 'selector'), ''));
  const allowInvalidValues = rules.allowsInvalidSelectorValues;
  checkLabelSelector(errors, child(path, 'selector'), selector, { allowInvalidValues });
  if (selects(selector, template.metadata?.labels) === false) {
    const reason = '`selector` does not match template `labels`';
    errors.push(invalid(child(path, 'template.metadata.labels'), goMap(template.metadata?.labels), reason));
  }
}

export function checkJobSpec(errors: FieldError[], path: string, spec: JobSpec, rules: PodRules): void {
  const at = (name: string): string => child(path, name);
  for (const name of counts) checkNotNegative(errors, at(name), spec[name]);
  if (isSet(spec.maxFailedIndexes) && !isSet(spec.backoffLimitPerIndex)) {
    errors.push(required(at('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  if (isSet(spec.managedBy)) checkManagedBy(errors, at('managedBy'), spec.managedBy);
  checkCompletionMode(errors, path, spec);
  if (spec.podFailurePolicy) checkFailurePolicy(errors, at('podFailurePolicy'), spec);
  if (spec.successPolicy) {
    if (spec.completionMode === 'Indexed') checkSuccessPolicy(errors, at('successPolicy'), spec);
    else {
      const shown = serverForm('SuccessPolicy', spec.successPolicy);
      errors.push(invalid(at('successPolicy'), shown, 'requires indexed completion mode'));
    }
  }
  checkReplacementPolicy(errors, at('podReplacementPolicy'), spec);
  checkPodTemplate(errors, at('template'), spec.template ?? {}, rules);
  checkRestartPolicy(errors, at('template.spec.restartPolicy'), spec);
}

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const isHttpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `example.com/controller`. */
function checkManagedBy(errors: FieldError[], path: string, name: string): void {
  const slash = name.indexOf('/');
  const [host, rest] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
  if (name === '') errors.push(required(path, ''));
  else if (host === '' || rest === '') {
    errors.push(invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else {
    checkReasons(errors, path, host, dnsSubdomainReasons(host));
    if (!isHttpPath.test(rest)) errors.push(invalid(path, rest, regexReason('Invalid path', httpPath)));
  }
  if (byteLength(name) > managedByMax) errors.push(tooLong(path, managedByMax));
}

function checkCompletionMode(errors: FieldError[], path: string, spec: JobSpec): void {
  const { completionMode: mode, backoffLimitPerIndex, maxFailedIndexes } = spec;
  if (isSet(mode) && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(child(path, 'completionMode'), mode, ['NonIndexed', 'Indexed']));
  }
  if (mode === 'Indexed') checkIndexed(errors, path, spec);
  if (isSet(mode) && mode !== 'NonIndexed') return;
  const reason = 'requires indexed completion mode';
  if (isSet(backoffLimitPerIndex)) {
    errors.push(invalid(child(path, 'backoffLimitPerIndex'), backoffLimitPerIndex, reason));
  }
  if (isSet(maxFailedIndexes)) errors.push(invalid(child(path, 'maxFailedIndexes'), maxFailedIndexes, reason));
}

function checkIndexed(errors: FieldError[], path: string, spec: JobSpec): void {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const atMost = (name: 'parallelism' | 'maxFailedIndexes', most: number, suffix = ''): void => {
    const value = spec[name];
    if (!isSet(value) || value <= most) return;
    errors.push(invalid(child(path, name), value, `must be less than or equal to ${most}${suffix}`));
  };
  if (!isSet(completions)) errors.push(required(child(path, 'completions'), 'when completion mode is Indexed'));
  atMost('parallelism', parallelismMax, ' when completion mode is Indexed');
  if (isSet(completions) && isSet(maxFailedIndexes) && maxFailedIndexes > completions) {
    const reason = 'must be less than or equal to completions';
    errors.push(invalid(child(path, 'maxFailedIndexes'), maxFailedIndexes, reason));
  }
  atMost('maxFailedIndexes', failedIndexesMax);
  if (!isSet(completions) || completions <= manyCompletions || !isSet(backoffLimitPerIndex)) return;
  if (!isSet(maxFailedIndexes)) {
    const reason = `must be specified when completions is above ${manyCompletions}`;
    errors.push(required(child(path, 'maxFailedIndexes'), reason));
  }
  const suffix = ` when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (isSet(parallelism)) atMost('parallelism', parallelismOfManyMax, suffix);
  atMost('maxFailedIndexes', failedIndexesOfManyMax, suffix);
}

/** Pods of a Job end. */
function checkRestartPolicy(errors: FieldError[], path: string, spec: JobSpec): void {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  if (policy === 'Always' || policy === '') {
    errors.push(required(path, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(notSupported(path, policy, ['OnFailure', 'Never']));
  } else if (spec.podFailurePolicy && policy !== 'Never') {
    errors.push(invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
}
