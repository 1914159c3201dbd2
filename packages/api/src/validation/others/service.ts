/**
 * Service. Cluster IPs, families and node ports are already allocated; the checks before the allocation are in `service-cluster-ips.ts`.
 */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, forbidden, index, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsSubdomainErrors, qualifiedNameErrors, requiredOneOfErrors } from '../shared/checks.ts';
import { cidrWarnings, cidrErrors } from '../shared/cidr.ts';
import { endpointIpErrors, ipWarnings, ipErrors } from '../shared/ip.ts';
import { labelsErrors } from '../shared/labels.ts';
import { entry, isEmpty, isSet, mapOf, numberOf, optionalStruct, optionalText } from '../shared/read.ts';
import { structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { loadBalancerErrors } from './load-balancer-status.ts';
import { clusterIpErrors, clusterIpUpdateErrors, isHeadless } from './service-cluster-ips.ts';
import { nodePortErrors, portDuplicateErrors, portErrors } from './service-ports.ts';
import { trafficErrors, trafficUpdateErrors } from './service-traffic.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const timeoutSecondsMax = 86_400;

const hints = 'service.kubernetes.io/topology-aware-hints';
const mode = 'service.kubernetes.io/topology-mode';
const sourceRanges = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function serviceErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = structOf(object, 'spec');
  const oldSpec = old && structOf(old, 'spec');
  const type = textOf(spec, 'type');
  const ports = structsOf(spec, 'ports');
  const needsPorts = !isHeadless(spec) && type !== 'ExternalName';
  return [
    ...topologyErrors(object),
    ...(ports.length === 0 && needsPorts ? [required('spec.ports', '')] : []),
    ...typeErrors(spec, type),
    ...portErrors(ports),
    ...labelsErrors('spec.selector', mapOf(spec, 'selector')),
    ...affinityErrors(spec),
    ...clusterIpErrors(spec, oldSpec),
    ...externalIpErrors(spec, oldSpec),
    ...requiredOneOfErrors('spec.type', type, types),
    ...nodePortErrors(ports, type),
    ...portDuplicateErrors(ports),
    ...sourceRangeErrors(object, old),
    ...loadBalancerFieldErrors(spec, type),
    ...loadBalancerClassErrors(spec, undefined),
    ...trafficErrors(spec),
  ];
}

function topologyErrors({ metadata: { annotations = {} } }: KubeObject): FieldError[] {
  const [hinted, chosen] = [entry(annotations, hints), entry(annotations, mode)];
  if (hinted === undefined || chosen === undefined || hinted === chosen) return [];
  const rule = `must match annotations[${hints}] when both are specified`;
  return [invalid(key('metadata.annotations', mode), chosen, rule)];
}

function typeErrors(spec: JsonObject, type: string): FieldError[] {
  if (type === 'LoadBalancer' || type === 'NodePort') {
    if (!isHeadless(spec)) return [];
    return [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)];
  }
  if (type !== 'ExternalName') return [];
  const taken = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].filter((field) =>
    field === 'ipFamilyPolicy' ? isSet(spec, field) : !isEmpty(spec, field),
  );
  const errors = taken.map((field) => forbidden(child('spec', field), 'may not be set for ExternalName services'));
  const name = textOf(spec, 'externalName').replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName', ''));
  else errors.push(...dnsSubdomainErrors('spec.externalName', name));
  return errors;
}

function affinityErrors(spec: JsonObject): FieldError[] {
  const affinity = textOf(spec, 'sessionAffinity');
  const path = 'spec.sessionAffinityConfig';
  const errors = [...requiredOneOfErrors('spec.sessionAffinity', affinity, ['ClientIP', 'None'])];
  if (affinity === 'None' && isSet(spec, 'sessionAffinityConfig')) {
    errors.push(forbidden(path, 'must not be set when session affinity is None'));
  }
  if (affinity !== 'ClientIP') return errors;
  const config = optionalStruct(spec, 'sessionAffinityConfig');
  const clientIp = optionalStruct(config, 'clientIP');
  const missing = !config ? path : !clientIp ? `${path}.clientIP` : `${path}.clientIP.timeoutSeconds`;
  if (!isSet(clientIp, 'timeoutSeconds')) {
    errors.push(required(missing, 'when session affinity type is ClientIP'));
    return errors;
  }
  const seconds = numberOf(clientIp, 'timeoutSeconds');
  if (seconds <= 0 || seconds > timeoutSecondsMax) {
    errors.push(invalid(missing, seconds, `must be greater than 0 and less than ${timeoutSecondsMax}`));
  }
  return errors;
}

function externalIpErrors(spec: JsonObject, oldSpec: JsonObject | undefined): FieldError[] {
  const known = new Set(textsOf(oldSpec, 'externalIPs'));
  return textsOf(spec, 'externalIPs').flatMap((ip, at) => {
    const path = index('spec.externalIPs', at);
    const errors = ipErrors(path, ip, known);
    return errors.length > 0 ? errors : endpointIpErrors(path, ip);
  });
}

/** The field, or the older annotation. */
function sourceRangeErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = structOf(object, 'spec');
  const isLoadBalancer = textOf(spec, 'type') === 'LoadBalancer';
  const ranges = textsOf(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    const before = textsOf(structOf(old, 'spec'), 'loadBalancerSourceRanges');
    const known = new Set(before.map((range) => range.trim()));
    return [
      ...(isLoadBalancer ? [] : [forbidden(path, onlyLoadBalancer)]),
      ...ranges.flatMap((range, at) => cidrErrors(index(path, at), range.trim(), known)),
    ];
  }
  const annotated = entry(object.metadata.annotations ?? {}, sourceRanges);
  if (annotated === undefined) return [];
  const path = key('metadata.annotations', sourceRanges);
  const errors = isLoadBalancer ? [] : [forbidden(path, onlyLoadBalancer)];
  if (annotated.trim() === '' || entry(old?.metadata.annotations ?? {}, sourceRanges) === annotated) return errors;
  return [...errors, ...annotated.split(',').flatMap((range) => cidrErrors(path, range.trim()))];
}

function loadBalancerFieldErrors(spec: JsonObject, type: string): FieldError[] {
  const isChosen = isSet(spec, 'allocateLoadBalancerNodePorts');
  if (isChosen === (type === 'LoadBalancer')) return [];
  // Kubernetes leaves `spec` out of the second path.
  if (isChosen) return [forbidden('spec.allocateLoadBalancerNodePorts', onlyLoadBalancer)];
  return [required('allocateLoadBalancerNodePorts', '')];
}

function loadBalancerClassErrors(spec: JsonObject, oldSpec: JsonObject | undefined): FieldError[] {
  const path = 'spec.loadBalancerClass';
  const chosen = optionalText(spec, 'loadBalancerClass');
  if (textOf(spec, 'type') !== 'LoadBalancer') return chosen === undefined ? [] : [forbidden(path, onlyLoadBalancer)];
  const wasLoadBalancer = textOf(oldSpec, 'type') === 'LoadBalancer';
  const isChanged = wasLoadBalancer && optionalText(oldSpec, 'loadBalancerClass') !== chosen;
  return [
    ...(isChanged ? [invalid(path, chosen ?? null, 'may not change once set')] : []),
    ...(chosen === undefined ? [] : qualifiedNameErrors(path, chosen)),
  ];
}

function statusErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const status = structOf(structOf(object, 'status'), 'loadBalancer');
  const path = 'status.loadBalancer.ingress';
  const isLoadBalancer = textOf(structOf(object, 'spec'), 'type') === 'LoadBalancer';
  if (!isLoadBalancer && !isEmpty(status, 'ingress')) {
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return loadBalancerErrors(path, status, structOf(structOf(old, 'status'), 'loadBalancer'), { withMode: true });
}

export const service: KindValidation = {
  create: (object) => serviceErrors(object, undefined),
  update(object, old, subresource) {
    if (subresource === 'status') return statusErrors(object, old);
    const [spec, oldSpec] = [structOf(object, 'spec'), structOf(old, 'spec')];
    return [
      ...clusterIpUpdateErrors(spec, oldSpec),
      ...loadBalancerClassErrors(spec, oldSpec),
      ...trafficUpdateErrors(spec, oldSpec),
      ...serviceErrors(object, old),
    ];
  },
  warnings: serviceWarnings,
};

function serviceWarnings(object: KubeObject): string[] {
  const spec = structOf(object, 'spec');
  const type = textOf(spec, 'type');
  const ip = textOf(spec, 'clusterIP');
  const isWithoutIp = type === 'ClusterIP' && ip === 'None';
  const external = textsOf(spec, 'externalIPs');
  const loadBalancerIp = textOf(spec, 'loadBalancerIP');
  const warnings: string[] = [];
  const warn = (condition: boolean, text: string): number => (condition ? warnings.push(text) : 0);

  const isHinted = Object.hasOwn(object.metadata.annotations ?? {}, hints);
  warn(isHinted, `annotation ${hints} is deprecated, please use ${mode} instead`);
  if (ip !== '' && ip !== 'None') {
    textsOf(spec, 'clusterIPs').forEach((one, at) => warnings.push(...ipWarnings(index('spec.clusterIPs', at), one)));
  }
  warn(isWithoutIp && loadBalancerIp !== '', 'spec.loadBalancerIP is ignored for headless services');
  warn(isWithoutIp && external.length > 0, 'spec.externalIPs is ignored for headless services');
  const hasAffinity = textOf(spec, 'sessionAffinity') !== 'None';
  warn(isWithoutIp && hasAffinity, 'spec.SessionAffinity is ignored for headless services');
  external.forEach((one, at) => warnings.push(...ipWarnings(index('spec.externalIPs', at), one)));
  warn(
    external.length > 0 && !isWithoutIp && type !== 'ExternalName',
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  );
  if (loadBalancerIp !== '') warnings.push(...ipWarnings('spec.loadBalancerIP', loadBalancerIp));
  textsOf(spec, 'loadBalancerSourceRanges').forEach((range, at) =>
    warnings.push(...cidrWarnings(index('spec.loadBalancerSourceRanges', at), range)),
  );
  const isNamed = type === 'ExternalName';
  warn(isNamed && external.length > 0, 'spec.externalIPs is ignored when spec.type is "ExternalName"');
  warn(
    !isNamed && textOf(spec, 'externalName') !== '',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  );
  warn(
    textOf(spec, 'trafficDistribution') === 'PreferClose',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  );
  return warnings;
}
