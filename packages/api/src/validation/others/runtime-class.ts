/** RuntimeClass. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, index, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { append, dnsLabelErrors, immutableErrors } from '../shared/checks.ts';
import { labelsErrors } from '../shared/labels.ts';
import { mapOf, optionalNumber, optionalStruct, structsOf, textOf } from '../shared/read.ts';
import { checkResources } from '../workloads/pod/resources.ts';
import { podRules } from '../workloads/pod/rules.ts';
import { checkTolerations } from '../workloads/pod/tolerations.ts';
import { deprecatedNodeLabel } from './deprecated-node-labels.ts';

function create(object: KubeObject): FieldError[] {
  const handler = textOf(object, 'handler');
  const overhead = optionalStruct(object, 'overhead');
  const scheduling = optionalStruct(object, 'scheduling');
  const errors = handler === '' ? [required('handler', '')] : dnsLabelErrors('handler', handler);
  if (overhead) {
    const rules = podRules(false);
    checkResources(errors, 'overhead', { limits: mapOf(overhead, 'podFixed') }, { rules, claims: new Set() });
  }
  if (scheduling) {
    append(errors, labelsErrors('scheduling.nodeSelector', mapOf(scheduling, 'nodeSelector')));
    append(errors, tolerationErrors('scheduling.tolerations', structsOf(scheduling, 'tolerations')));
  }
  return errors;
}

function tolerationErrors(path: string, tolerations: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  checkTolerations(errors, path, tolerations, podRules(false));
  const seen = new Set<string>();
  tolerations.forEach((toleration, at) => {
    const parts = ['key', 'operator', 'value', 'effect'].map((field) => textOf(toleration, field));
    const identity = JSON.stringify(parts);
    if (seen.has(identity)) {
      const [Key, Operator, Value, Effect] = parts;
      const TolerationSeconds = optionalNumber(toleration, 'tolerationSeconds') ?? null;
      errors.push(duplicate(index(path, at), { Key, Operator, Value, Effect, TolerationSeconds }));
    }
    seen.add(identity);
  });
  return errors;
}

export const runtimeClass: KindValidation = {
  create,
  update: (object, old) => [
    ...create(object),
    ...immutableErrors('handler', textOf(object, 'handler'), textOf(old, 'handler')),
  ],
  warnings: (object) =>
    Object.keys(mapOf(optionalStruct(object, 'scheduling'), 'nodeSelector')).flatMap((name) => {
      const advice = deprecatedNodeLabel(name);
      return advice === undefined ? [] : [`${child('scheduling', 'nodeSelector')}: ${advice}`];
    }),
};
