/** Taints that a pod tolerates. */

import { child, index, invalid, notSupported } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { labelValueReasons } from '../../formats.ts';
import { checkOneOf, checkQualifiedName, isSet } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import type { Toleration } from '../types/pod.ts';
import type { PodRules } from './rules.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTolerations(
  errors: FieldError[],
  path: string,
  tolerations: List<Toleration> | undefined,
  rules: PodRules,
): void {
  for (const [i, toleration] of (tolerations ?? []).entries()) {
    checkToleration(errors, index(path, i), toleration, rules);
  }
}

function checkToleration(errors: FieldError[], path: string, toleration: Toleration, rules: PodRules): void {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') checkQualifiedName(errors, child(path, 'key'), key);
  else if (operator !== 'Exists') {
    const reason = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(child(path, 'operator'), operator, reason));
  }
  if (isSet(tolerationSeconds) && effect !== 'NoExecute') {
    errors.push(invalid(child(path, 'effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  checkOperator(errors, path, toleration, rules);
  if (effect !== '') checkOneOf(errors, child(path, 'effect'), effect, effects);
}

function checkOperator(
  errors: FieldError[],
  path: string,
  { operator = '', value = '' }: Toleration,
  { allowsComparingTolerations }: PodRules,
): void {
  const operatorPath = child(path, 'operator');
  switch (operator) {
    case '':
    case 'Equal': {
      const reasons = labelValueReasons(value);
      if (reasons.length > 0) errors.push(invalid(operatorPath, value, reasons.join(';')));
      return;
    }
    case 'Exists':
      if (value !== '') errors.push(invalid(operatorPath, value, "value must be empty when `operator` is 'Exists'"));
      return;
    case 'Lt':
    case 'Gt':
      if (allowsComparingTolerations) return;
      errors.push(notSupported(operatorPath, operator, ['Equal', 'Exists', 'Lt', 'Gt']));
      return;
    default:
      errors.push(notSupported(operatorPath, operator, ['Equal', 'Exists']));
  }
}
