/** Deployments. */

import type { KubeObject } from '../../../object.ts';
import { child, forbidden, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkNotNegative, immutableReason, isSet } from '../base/checks.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { checkAtMost100Percent, checkIntOrPercent, intOrPercentValue } from '../base/int-or-percent.ts';
import type { IntOrString } from '../base/int-or-percent.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import { equalPointers } from '../../../fields/semantic-equality.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { makerNameWarnings, templateWarnings } from '../pod/warnings.ts';
import { serverForm } from '../server-form/render.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkCollisions, checkCounts, checkParts } from './counts.ts';
import type { Counts } from './counts.ts';
import { checkSelectorAndTemplate } from './replica-set.ts';

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString; readonly maxSurge?: IntOrString };
}

interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
  readonly strategy?: Strategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly progressDeadlineSeconds?: number;
}

const specOf = (object: KubeObject): DeploymentSpec => (object['spec'] ?? {}) as DeploymentSpec;
const statusOf = (object: KubeObject): Counts => (object['status'] ?? {}) as Counts;

function checkSpec(errors: FieldError[], spec: DeploymentSpec, rules: PodRules): void {
  checkNotNegative(errors, 'spec.replicas', spec.replicas);
  checkSelectorAndTemplate(errors, spec, rules);
  checkStrategy(errors, 'spec.strategy', spec.strategy ?? {});
  checkNotNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds);
  checkNotNegative(errors, 'spec.revisionHistoryLimit', spec.revisionHistoryLimit);
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (!isSet(deadline)) return;
  checkNotNegative(errors, 'spec.progressDeadlineSeconds', deadline);
  if (deadline <= minReadySeconds) {
    errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
}

function checkStrategy(errors: FieldError[], path: string, strategy: Strategy): void {
  const { type = '', rollingUpdate } = strategy;
  const at = child(path, 'rollingUpdate');
  if (type === 'Recreate') {
    if (rollingUpdate) errors.push(forbidden(at, "may not be specified when strategy `type` is 'Recreate'"));
  } else if (type !== 'RollingUpdate') {
    errors.push(notSupported(path, serverForm('DeploymentStrategy', strategy), ['Recreate', 'RollingUpdate']));
  } else if (!rollingUpdate) {
    errors.push(required(at, 'this should be defaulted and never be nil'));
  } else {
    const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
    checkIntOrPercent(errors, child(at, 'maxUnavailable'), maxUnavailable);
    checkIntOrPercent(errors, child(at, 'maxSurge'), maxSurge);
    if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
      errors.push(invalid(child(at, 'maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
    }
    checkAtMost100Percent(errors, child(at, 'maxUnavailable'), maxUnavailable);
  }
}

function checkStatus(errors: FieldError[], status: Counts, old: Counts): void {
  checkCounts(errors, 'status', status, [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ]);
  checkParts(errors, 'status', status, { parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'] });
  checkCollisions(errors, 'status', status, old);
}

export const deployment: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), podRules(false));
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource === 'status') {
      checkStatus(errors, statusOf(object), statusOf(old));
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
