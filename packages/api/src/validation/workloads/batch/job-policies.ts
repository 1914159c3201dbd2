/** When pods that fail count, and when a Job has succeeded early. */

import {
  child,
  duplicate,
  index,
  invalid,
  noValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength } from '../../formats.ts';
import { checkNotNegative, checkOneOf, checkQualifiedName, isEmpty, isSet } from '../base/checks.ts';
import { quotedList } from '../base/go-values.ts';
import { serverValue } from '../server-form/render.ts';
import { parseIndexes } from './indexes.ts';
import type { ExitCodesRule, JobSpec, PodFailureRule, SuccessRule } from './types.ts';

const rulesMax = 20;
const exitCodesMax = 255;
const conditionsMax = 20;
const indexBytesMax = 64 * 1024;

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

export function checkFailurePolicy(errors: FieldError[], path: string, spec: JobSpec): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const at = child(path, 'rules');
  if (rules.length > rulesMax) errors.push(tooMany(at, rules.length, rulesMax));
  const pod = spec.template?.spec;
  const names = new Set([...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map(({ name = '' }) => name));
  for (const [i, rule] of rules.entries()) checkFailureRule(errors, index(at, i), rule, { spec, names });
}

function checkFailureRule(
  errors: FieldError[],
  path: string,
  rule: PodFailureRule,
  { spec, names }: { readonly spec: JobSpec; readonly names: ReadonlySet<string> },
): void {
  const { action = '', onExitCodes, onPodConditions } = rule;
  const actionPath = child(path, 'action');
  if (action === '') errors.push(required(actionPath, `valid values: ${quotedList(actions)}`));
  else if (action === 'FailIndex') {
    if (!isSet(spec.backoffLimitPerIndex)) {
      errors.push(invalid(actionPath, action, 'requires the backoffLimitPerIndex to be set'));
    }
  } else checkOneOf(errors, actionPath, action, actions);
  if (onExitCodes) checkExitCodes(errors, child(path, 'onExitCodes'), onExitCodes, names);
  if (!isEmpty(onPodConditions)) checkConditions(errors, child(path, 'onPodConditions'), rule);
  const both = 'specifying both OnExitCodes and OnPodConditions is not supported';
  const neither = 'specifying one of OnExitCodes and OnPodConditions is required';
  if (onExitCodes && !isEmpty(onPodConditions)) errors.push(invalid(path, noValue, both));
  if (!onExitCodes && isEmpty(onPodConditions)) errors.push(invalid(path, noValue, neither));
}

function checkConditions(errors: FieldError[], path: string, { onPodConditions }: PodFailureRule): void {
  const count = onPodConditions?.length ?? 0;
  if (count > conditionsMax) errors.push(tooMany(path, count, conditionsMax));
  for (const [i, { type = '', status = '' }] of (onPodConditions ?? []).entries()) {
    const at = index(path, i);
    checkQualifiedName(errors, child(at, 'type'), type);
    if (status === '') errors.push(required(child(at, 'status'), `valid values: ${quotedList(statuses)}`));
    else checkOneOf(errors, child(at, 'status'), status, statuses);
  }
}

function checkExitCodes(errors: FieldError[], path: string, rule: ExitCodesRule, names: ReadonlySet<string>): void {
  const { operator = '', containerName } = rule;
  const operatorPath = child(path, 'operator');
  if (operator === '') errors.push(required(operatorPath, `valid values: ${quotedList(operators)}`));
  else checkOneOf(errors, operatorPath, operator, operators);
  if (isSet(containerName) && !names.has(containerName)) {
    const reason = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(child(path, 'containerName'), containerName, reason));
  }
  const values = rule.values ?? [];
  const at = child(path, 'values');
  if (values.length === 0) {
    errors.push(invalid(at, serverValue('[]i', rule.values), 'at least one value is required'));
  } else if (values.length > exitCodesMax) errors.push(tooMany(at, values.length, exitCodesMax));
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      errors.push(invalid(index(at, i), value, 'must not be 0 for the In operator'));
    if (seen.has(value)) errors.push(duplicate(index(at, i), value));
    seen.add(value);
  }
  if (values.some((value, i) => i > 0 && values[i - 1]! > value)) errors.push(invalid(at, values, 'must be ordered'));
}

/** For an Indexed Job; `completions` may be missing, which is reported elsewhere. */
export function checkSuccessPolicy(errors: FieldError[], path: string, spec: JobSpec): void {
  const rules = spec.successPolicy?.rules ?? [];
  const at = child(path, 'rules');
  if (rules.length === 0) {
    errors.push(required(at, 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (rules.length > rulesMax) errors.push(tooMany(at, rules.length, rulesMax));
  for (const [i, rule] of rules.entries()) checkSuccessRule(errors, index(at, i), rule, spec.completions ?? 0);
}

function checkSuccessRule(errors: FieldError[], path: string, rule: SuccessRule, completions: number): void {
  const { succeededIndexes: indexes, succeededCount: count } = rule;
  if (!isSet(indexes) && !isSet(count)) {
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  let total = 0;
  if (isSet(indexes)) {
    const at = child(path, 'succeededIndexes');
    if (byteLength(indexes) > indexBytesMax) errors.push(tooLong(at, indexBytesMax));
    const parsed = parseIndexes(indexes, completions);
    if ('problem' in parsed) {
      errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${parsed.problem}`));
    } else total = parsed.total;
  }
  if (!isSet(count)) return;
  const at = child(path, 'succeededCount');
  checkNotNegative(errors, at, count);
  const refuse = (most: number, what: string): void => {
    if (count > most) errors.push(invalid(at, count, `must be less than or equal to ${most} (the number of ${what})`));
  };
  refuse(completions, 'specified completions');
  if (isSet(indexes)) refuse(total, 'indexes in the specified succeededIndexes field');
}

export function checkReplacementPolicy(errors: FieldError[], path: string, spec: JobSpec): void {
  const { podReplacementPolicy: policy, podFailurePolicy } = spec;
  if (!isSet(policy)) return;
  // Pods that fail are counted one by one only when each is replaced after it failed.
  const supported = podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (!supported.includes(policy)) errors.push(notSupported(path, policy, supported));
}
