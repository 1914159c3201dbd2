/** HorizontalPodAutoscaler in both versions; the older one supports CPU utilization as its only metric. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { nonNegativeErrors, oneOfErrors } from '../shared/checks.ts';
import { nonNegativeQuantityErrors } from '../shared/quantities.ts';
import { isSet, numberOf, optionalNumber, optionalStruct, structOf, structsOf, textOf } from '../shared/read.ts';
import { referenceErrors } from './autoscaler-references.ts';
import type { ReferenceRules } from './autoscaler-references.ts';
import { metricsErrors } from './metrics.ts';

function targetRules(target: JsonObject, old: JsonObject | undefined): ReferenceRules {
  const isUnchanged =
    old !== undefined && ['apiVersion', 'kind'].every((field) => textOf(old, field) === textOf(target, field));
  return { anyVersion: isUnchanged, coreGroup: textOf(target, 'kind') === 'ReplicationController' };
}

function specErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const [spec, oldSpec] = [structOf(object, 'spec'), old && structOf(old, 'spec')];
  const [least, most] = [optionalNumber(spec, 'minReplicas'), numberOf(spec, 'maxReplicas')];
  const lowest = optionalNumber(oldSpec, 'minReplicas') === 0 ? 0 : 1;
  const target = structOf(spec, 'scaleTargetRef');
  const errors: FieldError[] = [];
  if (least !== undefined && least < lowest) {
    errors.push(invalid('spec.minReplicas', least, `must be greater than or equal to ${lowest}`));
  }
  if (most === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (most < 0) errors.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to 1'));
  if (least !== undefined && most < least) {
    errors.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  }
  const rules = targetRules(target, oldSpec && structOf(oldSpec, 'scaleTargetRef'));
  return [
    ...errors,
    ...referenceErrors('spec.scaleTargetRef', target, rules),
    ...metricsErrors(spec, oldSpec),
    ...['scaleUp', 'scaleDown'].flatMap((direction) =>
      scalingErrors(`spec.behavior.${direction}`, optionalStruct(structOf(spec, 'behavior'), direction)),
    ),
  ];
}

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

function scalingErrors(path: string, rules: JsonObject | undefined): FieldError[] {
  if (!rules) return [];
  const windowPath = child(path, 'stabilizationWindowSeconds');
  const seconds = numberOf(rules, 'stabilizationWindowSeconds');
  const policies = structsOf(rules, 'policies');
  const policiesPath = child(path, 'policies');
  const errors: FieldError[] = [];
  if (seconds < 0) errors.push(invalid(windowPath, seconds, 'must be greater than or equal to zero'));
  if (seconds > windowSecondsMax) {
    errors.push(invalid(windowPath, seconds, `must be less than or equal to ${windowSecondsMax}`));
  }
  if (isSet(rules, 'selectPolicy')) {
    errors.push(...oneOfErrors(child(path, 'selectPolicy'), textOf(rules, 'selectPolicy'), ['Disabled', 'Max', 'Min']));
  }
  if (policies.length === 0) errors.push(required(policiesPath, 'must specify at least one Policy'));
  policies.forEach((policy, at) => errors.push(...policyErrors(index(policiesPath, at), policy)));
  if (isSet(rules, 'tolerance'))
    errors.push(...nonNegativeQuantityErrors(child(path, 'tolerance'), rules['tolerance']));
  return errors;
}

function policyErrors(path: string, policy: JsonObject): FieldError[] {
  const type = textOf(policy, 'type');
  const [value, seconds] = [numberOf(policy, 'value'), numberOf(policy, 'periodSeconds')];
  const positive = 'must be greater than zero';
  const errors = ['Pods', 'Percent'].includes(type)
    ? []
    : [notSupported(child(path, 'type'), type, ['Percent', 'Pods'])];
  if (value <= 0) errors.push(invalid(child(path, 'value'), value, positive));
  if (seconds <= 0) errors.push(invalid(child(path, 'periodSeconds'), seconds, positive));
  if (seconds > periodSecondsMax) {
    errors.push(invalid(child(path, 'periodSeconds'), seconds, `must be less than or equal to ${periodSecondsMax}`));
  }
  return errors;
}

function statusErrors(object: KubeObject): FieldError[] {
  const status = structOf(object, 'status');
  return ['currentReplicas', 'desiredReplicas'].flatMap((field) =>
    nonNegativeErrors(child('status', field), numberOf(status, field)),
  );
}

/** Converts the fields of the older version to the newer one. */
function asNewer(object: KubeObject): KubeObject {
  const spec = structOf(object, 'spec');
  const share = optionalNumber(spec, 'targetCPUUtilizationPercentage');
  if (share === undefined) return object;
  const target = { type: 'Utilization', averageUtilization: share };
  return { ...object, spec: { ...spec, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] } };
}

const validation = (read: (object: KubeObject) => KubeObject): KindValidation => ({
  create: (object) => specErrors(read(object), undefined),
  update: (object, old, subresource) =>
    subresource === 'status' ? statusErrors(object) : specErrors(read(object), read(old)),
});

export const horizontalPodAutoscaler: KindValidation = validation((object) => object);
export const olderHorizontalPodAutoscaler: KindValidation = validation(asNewer);
