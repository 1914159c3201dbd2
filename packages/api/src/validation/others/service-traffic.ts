/** Traffic of a Service: policies for external and internal traffic, and its distribution. */

import type { JsonObject } from '../../object.ts';
import { forbidden, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { portNumberReasons } from '../formats.ts';
import { invalidFor, oneOfErrors, requiredOneOfErrors } from '../shared/checks.ts';
import { isEmpty, isSet, numberOf, textOf } from '../shared/read.ts';

const policies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const healthPath = 'spec.healthCheckNodePort';

export const needsHealthCheck = (spec: JsonObject): boolean =>
  textOf(spec, 'type') === 'LoadBalancer' && textOf(spec, 'externalTrafficPolicy') === 'Local';

function isReachableFromOutside(spec: JsonObject): boolean {
  const type = textOf(spec, 'type');
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && !isEmpty(spec, 'externalIPs'));
}

export const trafficErrors = (spec: JsonObject): FieldError[] => [
  ...externalErrors(spec),
  ...healthCheckErrors(spec),
  ...internalErrors(spec),
  ...(isSet(spec, 'trafficDistribution')
    ? oneOfErrors('spec.trafficDistribution', textOf(spec, 'trafficDistribution'), distributions)
    : []),
];

function externalErrors(spec: JsonObject): readonly FieldError[] {
  const path = 'spec.externalTrafficPolicy';
  const policy = textOf(spec, 'externalTrafficPolicy');
  if (isReachableFromOutside(spec)) return requiredOneOfErrors(path, policy, policies);
  return policy === '' ? [] : [invalid(path, policy, 'may only be set for externally-accessible services')];
}

function healthCheckErrors(spec: JsonObject): FieldError[] {
  const port = numberOf(spec, 'healthCheckNodePort');
  if (needsHealthCheck(spec)) {
    return port === 0 ? [required(healthPath, '')] : invalidFor(healthPath, port, portNumberReasons(port));
  }
  if (port === 0) return [];
  const rule = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalid(healthPath, port, rule)];
}

function internalErrors(spec: JsonObject): readonly FieldError[] {
  const path = 'spec.internalTrafficPolicy';
  if (isSet(spec, 'internalTrafficPolicy')) return oneOfErrors(path, textOf(spec, 'internalTrafficPolicy'), policies);
  return ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(textOf(spec, 'type')) ? [required(path, '')] : [];
}

export function trafficUpdateErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  if (!needsHealthCheck(spec) || !needsHealthCheck(oldSpec)) return [];
  if (numberOf(spec, 'healthCheckNodePort') === numberOf(oldSpec, 'healthCheckNodePort')) return [];
  return [forbidden(healthPath, 'field is immutable')];
}
