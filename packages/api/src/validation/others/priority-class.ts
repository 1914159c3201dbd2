/** PriorityClass: names that begin with `system-` are Kubernetes' own. */

import type { KubeObject } from '../../object.ts';
import { forbidden } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { immutableErrors, requiredOneOfErrors } from '../shared/checks.ts';
import { flagOf, isSet, numberOf, textOf } from '../shared/read.ts';

const valueMax = 1_000_000_000;
const systemPrefix = 'system-';
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * valueMax + 1000],
  ['system-cluster-critical', 2 * valueMax],
]);

function systemProblem(object: KubeObject): string | undefined {
  const name = object.metadata.name ?? '';
  const value = systemClasses.get(name);
  if (value === undefined) return `${name} is not a known system priority class`;
  if (numberOf(object, 'value') !== value) return `value of ${name} PriorityClass must be ${value}`;
  return flagOf(object, 'globalDefault') ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function valueErrors(object: KubeObject): FieldError[] {
  if (!(object.metadata.name ?? '').startsWith(systemPrefix)) {
    if (numberOf(object, 'value') <= valueMax) return [];
    return [forbidden('value', `maximum allowed value of a user defined priority is ${valueMax}`)];
  }
  const problem = systemProblem(object);
  if (problem === undefined) return [];
  const rule = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
  return [forbidden('metadata.name', rule)];
}

export const priorityClass: KindValidation = {
  create: (object) => [
    ...valueErrors(object),
    ...(isSet(object, 'preemptionPolicy')
      ? requiredOneOfErrors('preemptionPolicy', textOf(object, 'preemptionPolicy'), ['PreemptLowerPriority', 'Never'])
      : []),
  ],
  update: (object, old) => [
    ...(numberOf(object, 'value') === numberOf(old, 'value')
      ? []
      : [forbidden('value', 'may not be changed in an update.')]),
    ...immutableErrors('preemptionPolicy', object['preemptionPolicy'], old['preemptionPolicy']),
  ],
};
