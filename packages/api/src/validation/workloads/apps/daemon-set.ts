/** DaemonSets. */

import type { KubeObject } from '../../../object.ts';
import { child, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkNotNegative, immutableReason } from '../base/checks.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { checkAtMost100Percent, checkIntOrPercent, intOrPercentValue } from '../base/int-or-percent.ts';
import type { IntOrString } from '../base/int-or-percent.ts';
import { checkLabelSelector, hasInvalidValues, isEmptySelector, selects } from '../base/label-selectors.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import { equalPointers } from '../../../fields/semantic-equality.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { checkPodTemplate } from '../pod/template.ts';
import { templateWarnings } from '../pod/warnings.ts';
import { serverForm } from '../server-form/render.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkCollisions, checkCounts } from './counts.ts';
import type { Counts } from './counts.ts';
import { checkRunsForever, refuseUnmatched } from './template.ts';

interface UpdateStrategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString; readonly maxSurge?: IntOrString };
}

interface DaemonSetSpec {
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
  readonly minReadySeconds?: number;
  readonly updateStrategy?: UpdateStrategy;
  readonly revisionHistoryLimit?: number;
}

const specOf = (object: KubeObject): DaemonSetSpec => (object['spec'] ?? {}) as DaemonSetSpec;

function checkSpec(errors: FieldError[], spec: DaemonSetSpec, rules: PodRules): void {
  const { selector, template = {} } = spec;
  const allowInvalidValues = rules.allowsInvalidSelectorValues;
  checkLabelSelector(errors, 'spec.selector', selector, { allowInvalidValues });
  if (selects(selector, template.metadata?.labels) === false) refuseUnmatched(errors, 'spec.template', template);
  if (selector && isEmptySelector(selector)) {
    errors.push(invalid('spec.selector', goLabelSelector(selector), 'empty selector is invalid for daemonset'));
  }
  checkPodTemplate(errors, 'spec.template', template, rules);
  checkRunsForever(errors, 'spec.template', template, 'DaemonSet');
  checkNotNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds);
  checkStrategy(errors, 'spec.updateStrategy', spec.updateStrategy ?? {});
  checkNotNegative(errors, 'spec.revisionHistoryLimit', spec.revisionHistoryLimit);
}

function checkStrategy(errors: FieldError[], path: string, strategy: UpdateStrategy): void {
  const { type = '', rollingUpdate } = strategy;
  const at = child(path, 'rollingUpdate');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    errors.push(notSupported(path, serverForm('DaemonSetUpdateStrategy', strategy), ['RollingUpdate', 'OnDelete']));
    return;
  }
  if (!rollingUpdate) {
    errors.push(required(at, ''));
    return;
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  const [unavailablePath, surgePath] = [child(at, 'maxUnavailable'), child(at, 'maxSurge')];
  checkIntOrPercent(errors, unavailablePath, maxUnavailable);
  checkIntOrPercent(errors, surgePath, maxSurge);
  checkAtMost100Percent(errors, unavailablePath, maxUnavailable);
  checkAtMost100Percent(errors, surgePath, maxSurge);
  const hasUnavailable = intOrPercentValue(maxUnavailable) !== 0;
  const hasSurge = intOrPercentValue(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    errors.push(invalid(surgePath, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!hasUnavailable && !hasSurge) errors.push(required(unavailablePath, 'cannot be 0 when maxSurge is 0'));
}

function checkUpdate(errors: FieldError[], spec: DaemonSetSpec, old: DaemonSetSpec): void {
  if (!equalPointers('meta/v1.LabelSelector', spec.selector, old.selector)) {
    errors.push(invalid('spec.selector', goLabelSelector(spec.selector), immutableReason));
  }
  const rules = podRules(false, old.template);
  const allowsInvalidSelectorValues = rules.allowsInvalidSelectorValues || hasInvalidValues(old.selector);
  checkSpec(errors, spec, { ...rules, allowsInvalidSelectorValues });
}

function checkStatus(errors: FieldError[], status: Counts, old: Counts): void {
  checkCounts(errors, 'status', status, [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ]);
  checkCollisions(errors, 'status', status, old);
}

export const daemonSet: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), podRules(false));
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource !== 'status') checkUpdate(errors, specOf(object), specOf(old));
    else checkStatus(errors, (object['status'] ?? {}) as Counts, (old['status'] ?? {}) as Counts);
    return errors;
  },
  warnings: (object, old) =>
    old && object.metadata.generation === old.metadata.generation
      ? []
      : templateWarnings('spec.template', specOf(object).template ?? {}),
};
