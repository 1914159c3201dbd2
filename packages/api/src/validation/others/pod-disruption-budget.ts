/** PodDisruptionBudget. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { percentReasons } from '../formats.ts';
import { invalidFor, nonNegativeErrors, oneOfErrors } from '../shared/checks.ts';
import { conditionsErrors } from '../shared/conditions.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { isSet, numberOf, optionalStruct, optionalText, structOf, structsOf, textOf } from '../shared/read.ts';

function amountErrors(path: string, amount: unknown): readonly FieldError[] {
  if (typeof amount === 'number') return nonNegativeErrors(path, amount);
  const text = String(amount);
  const reasons = percentReasons(text);
  if (reasons.length > 0) return invalidFor(path, text, reasons);
  return Number(text.slice(0, -1)) > 100 ? [invalid(path, text, 'must not be greater than 100%')] : [];
}

const selectorOf = (object: KubeObject | undefined): JsonObject | undefined =>
  optionalStruct(structOf(object, 'spec'), 'selector');

function specErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = structOf(object, 'spec');
  const amounts = ['minAvailable', 'maxUnavailable'].filter((field) => isSet(spec, field));
  const invalidValues = labelSelectorErrors('', selectorOf(old)).length > 0;
  const rule = 'minAvailable and maxUnavailable cannot be both set';
  return [
    ...(amounts.length === 2 ? [invalid('spec', shownSpec(spec), rule)] : []),
    ...amounts.flatMap((field) => amountErrors(child('spec', field), spec[field])),
    ...labelSelectorErrors('spec.selector', selectorOf(object), { invalidValues }),
    ...(isSet(spec, 'unhealthyPodEvictionPolicy')
      ? oneOfErrors('spec.unhealthyPodEvictionPolicy', textOf(spec, 'unhealthyPodEvictionPolicy'), [
          'AlwaysAllow',
          'IfHealthyBudget',
        ])
      : []),
  ];
}

const shownSpec = (spec: JsonObject): JsonObject => ({
  MinAvailable: spec['minAvailable'],
  Selector: optionalStruct(spec, 'selector') ?? null,
  MaxUnavailable: spec['maxUnavailable'],
  UnhealthyPodEvictionPolicy: optionalText(spec, 'unhealthyPodEvictionPolicy') ?? null,
});

const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

function statusErrors(object: KubeObject): FieldError[] {
  const status = structOf(object, 'status');
  return [
    ...conditionsErrors('status.conditions', structsOf(status, 'conditions')),
    ...counts.flatMap((field) => nonNegativeErrors(child('status', field), numberOf(status, field))),
  ];
}

export const podDisruptionBudget: KindValidation = {
  create: (object) => specErrors(object, undefined),
  update: (object, old, subresource) => (subresource === 'status' ? statusErrors(object) : specErrors(object, old)),
};
