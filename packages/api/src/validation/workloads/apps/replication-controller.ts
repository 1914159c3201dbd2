/** ReplicationControllers: ReplicaSets of old, whose selectors are plain labels. */

import type { KubeObject } from '../../../object.ts';
import { required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkNotNegative, has, isSet } from '../base/checks.ts';
import type { TextMap } from '../base/checks.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { checkPodTemplate } from '../pod/template.ts';
import { makerNameWarnings, templateWarnings } from '../pod/warnings.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkCounts, checkParts } from './counts.ts';
import type { Counts } from './counts.ts';
import { replicaCounts } from './replica-set.ts';
import { checkRunsForever, refuseUnmatched } from './template.ts';

interface ReplicationControllerSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: TextMap;
  readonly template?: PodTemplate;
}

const specOf = (object: KubeObject): ReplicationControllerSpec => (object['spec'] ?? {}) as ReplicationControllerSpec;

function checkSpec(errors: FieldError[], spec: ReplicationControllerSpec, rules: PodRules): void {
  const { replicas, minReadySeconds, selector, template } = spec;
  const isEmpty = Object.keys(selector ?? {}).length === 0;
  checkNotNegative(errors, 'spec.minReadySeconds', minReadySeconds);
  if (isEmpty) errors.push(required('spec.selector', ''));
  if (!isSet(replicas)) errors.push(required('spec.replicas', ''));
  else checkNotNegative(errors, 'spec.replicas', replicas);
  if (!template) {
    errors.push(required('spec.template', ''));
    return;
  }
  if (!isEmpty && !matches(selector, template)) refuseUnmatched(errors, 'spec.template', template);
  checkPodTemplate(errors, 'spec.template', template, rules);
  checkRunsForever(errors, 'spec.template', template, 'ReplicationController');
}

/** Labels as they are: they are not checked to be selectors that could be understood. */
const matches = (selector: TextMap | undefined, { metadata }: PodTemplate): boolean =>
  Object.entries(selector ?? {}).every(
    ([name, value]) => has(metadata?.labels, name) && metadata!.labels![name] === value,
  );

export const replicationController: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), podRules(false));
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource !== 'status') {
      checkSpec(errors, specOf(object), podRules(false, specOf(old).template));
      return errors;
    }
    const status = (object['status'] ?? {}) as Counts;
    checkCounts(errors, 'status', status, replicaCounts);
    checkParts(errors, 'status', status, { parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] });
    return errors;
  },
  warnings(object, old) {
    if (old && object.metadata.generation === old.metadata.generation) return [];
    // On an update the server checks the old template, for compatibility.
    const { template = {} } = specOf(old ?? object);
    return [
      ...(old ? [] : makerNameWarnings(object.metadata.name ?? '')),
      ...templateWarnings('spec.template', template),
    ];
  },
};
