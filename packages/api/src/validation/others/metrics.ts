/** The metrics of a HorizontalPodAutoscaler. */

import type { JsonObject } from '../../object.ts';
import { child, forbidden, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsLabelErrors, invalidFor, pathSegmentReasons } from '../shared/checks.ts';
import { nanosOf } from '../shared/quantities.ts';
import { isSet, optionalNumber, optionalStruct, structOf, structsOf, textOf } from '../shared/read.ts';
import { containerResourceNameErrors } from '../shared/resource-names.ts';
import { referenceErrors, versionProblem } from './autoscaler-references.ts';

type Check = (path: string, source: JsonObject, anyVersion: boolean) => FieldError[];

const targetType = 'must be either Utilization, Value, or AverageValue';

function targetErrors(sourcePath: string, source: JsonObject): FieldError[] {
  const path = child(sourcePath, 'target');
  const target = structOf(source, 'target');
  const type = textOf(target, 'type');
  const share = optionalNumber(target, 'averageUtilization');
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(child(path, 'type'), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    errors.push(invalid(child(path, 'type'), type, targetType));
  }
  for (const field of ['value', 'averageValue']) {
    if (isSet(target, field) && nanosOf(target[field]) <= 0n) {
      errors.push(invalid(child(path, field), target[field], 'must be positive'));
    }
  }
  if (share !== undefined && share < 1) {
    errors.push(invalid(child(path, 'averageUtilization'), share, 'must be greater than 0'));
  }
  return errors;
}

function identifierErrors(sourcePath: string, source: JsonObject): FieldError[] {
  const path = child(child(sourcePath, 'metric'), 'name');
  const name = textOf(structOf(source, 'metric'), 'name');
  return name === ''
    ? [required(path, 'must specify a metric name')]
    : invalidFor(path, name, pathSegmentReasons(name));
}

const has = (source: JsonObject, field: string): boolean => isSet(structOf(source, 'target'), field);
const missing = (path: string, field: string, rule: string): FieldError => required(`${path}.target.${field}`, rule);

const object: Check = (path, source, anyVersion) => [
  ...referenceErrors(child(path, 'describedObject'), structOf(source, 'describedObject'), {
    anyVersion,
    coreGroup: true,
  }),
  ...identifierErrors(path, source),
  ...targetErrors(path, source),
  ...(has(source, 'value') || has(source, 'averageValue')
    ? []
    : [missing(path, 'averageValue', 'must set either a target value or averageValue')]),
];

const external: Check = (path, source) => {
  const given = ['value', 'averageValue'].filter((field) => has(source, field)).length;
  const errors = [...identifierErrors(path, source), ...targetErrors(path, source)];
  if (given === 0) {
    errors.push(missing(path, 'averageValue', 'must set either a target value for metric or a per-pod target'));
  }
  if (given === 2) {
    errors.push(forbidden(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target'));
  }
  return errors;
};

const pods: Check = (path, source) => [
  ...identifierErrors(path, source),
  ...targetErrors(path, source),
  ...(has(source, 'averageValue')
    ? []
    : [missing(path, 'averageValue', 'must specify a positive target averageValue')]),
];

function resourceTargetErrors(path: string, source: JsonObject): FieldError[] {
  const given = ['averageUtilization', 'averageValue'].filter((field) => has(source, field)).length;
  const errors = targetErrors(path, source);
  if (given === 0) {
    errors.push(missing(path, 'averageUtilization', 'must set either a target raw value or a target utilization'));
  }
  if (given === 2) {
    errors.push(
      forbidden(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization'),
    );
  }
  return errors;
}

const resourceName = 'must specify a resource name';

const resource: Check = (path, source) => [
  ...(textOf(source, 'name') === '' ? [required(child(path, 'name'), resourceName)] : []),
  ...resourceTargetErrors(path, source),
];

const containerResource: Check = (path, source) => {
  const [name, container] = [textOf(source, 'name'), textOf(source, 'container')];
  const [namePath, containerPath] = [child(path, 'name'), child(path, 'container')];
  return [
    ...(name === '' ? [required(namePath, resourceName)] : containerResourceNameErrors(namePath, name)),
    ...(container === ''
      ? [required(containerPath, 'must specify a container')]
      : dnsLabelErrors(containerPath, container)),
    ...resourceTargetErrors(path, source),
  ];
};

/** By type: the field that describes it, in the order in which fields are checked. */
const sources: readonly (readonly [type: string, field: string, check: Check])[] = [
  ['Object', 'object', object],
  ['External', 'external', external],
  ['Pods', 'pods', pods],
  ['Resource', 'resource', resource],
  ['ContainerResource', 'containerResource', containerResource],
];
const types = sources.map(([type]) => type).sort();

function metricErrors(path: string, metric: JsonObject, anyVersion: boolean): FieldError[] {
  const type = textOf(metric, 'type');
  const known = sources.find(([name]) => name === type);
  const present = sources.filter(([, field]) => isSet(metric, field));
  const errors = type === '' ? [required(child(path, 'type'), 'must specify a metric source type')] : [];
  if (!known) errors.push(notSupported(child(path, 'type'), type, types));
  // Only the first of several is checked.
  for (const [, field, check] of present.slice(0, 1)) {
    errors.push(...check(child(path, field), structOf(metric, field), anyVersion));
  }
  if (!known) errors.push(notSupported(child(path, 'type'), type, types));
  else if (!isSet(metric, known[1])) {
    errors.push(required(child(path, known[1]), 'must populate information for the given metric source'));
  }
  if (present.length === 1) return errors;
  const others = present.filter(([, field]) => field !== known?.[1]);
  return [
    ...errors,
    ...others.map(([, field]) => forbidden(child(path, field), 'must populate the given metric source only')),
  ];
}

export function metricsErrors(spec: JsonObject, oldSpec: JsonObject | undefined): FieldError[] {
  const path = 'spec.metrics';
  const metrics = structsOf(spec, 'metrics');
  const anyVersion = structsOf(oldSpec, 'metrics').some((metric) => {
    const described = structOf(optionalStruct(metric, 'object'), 'describedObject');
    const isObject = textOf(metric, 'type') === 'Object' && isSet(metric, 'object');
    return isObject && versionProblem(textOf(described, 'apiVersion'), true) !== undefined;
  });
  const errors = metrics.flatMap((metric, at) => metricErrors(index(path, at), metric, anyVersion));
  const isFromZero = optionalNumber(spec, 'minReplicas') === 0;
  if (!isFromZero || metrics.some((metric) => ['Object', 'External'].includes(textOf(metric, 'type')))) return errors;
  const rule = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [...errors, forbidden(path, rule)];
}
