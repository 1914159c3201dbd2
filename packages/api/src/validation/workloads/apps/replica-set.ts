/** ReplicaSets, and the selector and template that Deployments have of the same form. */

import type { KubeObject } from '../../../object.ts';
import { invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkNotNegative, immutableReason } from '../base/checks.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { checkLabelSelector, isEmptySelector, selects } from '../base/label-selectors.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import { equalPointers } from '../../../fields/semantic-equality.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { checkPodTemplate } from '../pod/template.ts';
import { makerNameWarnings, templateWarnings } from '../pod/warnings.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkCounts, checkParts } from './counts.ts';
import type { Counts } from './counts.ts';
import { checkRunsForever, refuseUnmatched } from './template.ts';

interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
}

const specOf = (object: KubeObject): ReplicaSetSpec => (object['spec'] ?? {}) as ReplicaSetSpec;

export function checkSelectorAndTemplate(
  errors: FieldError[],
  { selector, template = {} }: Pick<ReplicaSetSpec, 'selector' | 'template'>,
  rules: PodRules,
): void {
  const path = 'spec.selector';
  if (!selector) errors.push(required(path, ''));
  else {
    checkLabelSelector(errors, path, selector);
    if (isEmptySelector(selector)) {
      errors.push(invalid(path, goLabelSelector(selector), 'empty selector is invalid for deployment'));
    }
  }
  const isMatch = selects(selector, template.metadata?.labels);
  if (isMatch === undefined) {
    errors.push(invalid(path, goLabelSelector(selector), 'invalid label selector'));
    return;
  }
  if (!isMatch) refuseUnmatched(errors, 'spec.template', template);
  checkPodTemplate(errors, 'spec.template', template, rules);
  checkRunsForever(errors, 'spec.template', template, 'ReplicaSet');
}

function checkSpec(errors: FieldError[], spec: ReplicaSetSpec, rules: PodRules): void {
  checkNotNegative(errors, 'spec.replicas', spec.replicas);
  checkNotNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds);
  checkSelectorAndTemplate(errors, spec, rules);
}

export const replicaCounts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
];

export const replicaSet: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), podRules(false));
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource === 'status') {
      const status = (object['status'] ?? {}) as Counts;
      checkCounts(errors, 'status', status, [...replicaCounts, 'terminatingReplicas']);
      checkParts(errors, 'status', status, { parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] });
      return errors;
    }
    const [spec, before] = [specOf(object), specOf(old)];
    checkSpec(errors, spec, podRules(false, before.template));
    if (!equalPointers('meta/v1.LabelSelector', spec.selector, before.selector)) {
      errors.push(invalid('spec.selector', goLabelSelector(spec.selector), immutableReason));
    }
    return errors;
  },
  warnings(object, old) {
    if (old && object.metadata.generation === old.metadata.generation) return [];
    return [
      ...(old ? [] : makerNameWarnings(object.metadata.name ?? '')),
      ...templateWarnings('spec.template', specOf(object).template ?? {}),
    ];
  },
};
