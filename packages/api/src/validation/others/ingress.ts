/** Ingress. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsSubdomainReasons, portNameReasons, portNumberReasons, wildcardSubdomainReasons } from '../formats.ts';
import { dnsLabelErrors, dnsSubdomainErrors, invalidFor, pathSegmentErrors } from '../shared/checks.ts';
import { ipWarnings, parseIp } from '../shared/ip.ts';
import {
  entry,
  isSet,
  numberOf,
  optionalStruct,
  optionalText,
  structOf,
  structsOf,
  textOf,
  textsOf,
} from '../shared/read.ts';
import { loadBalancerErrors } from './load-balancer-status.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badEndings = ['/..', '/.'];

interface Tolerance {
  readonly secretNames: boolean;
  readonly wildcardRules: boolean;
}

function specErrors(object: KubeObject, tolerance: Tolerance): FieldError[] {
  const spec = structOf(object, 'spec');
  const rules = structsOf(spec, 'rules');
  const backend = optionalStruct(spec, 'defaultBackend');
  const className = optionalText(spec, 'ingressClassName');
  const isEmpty = rules.length === 0 && !backend;
  return [
    ...(isEmpty
      ? [invalid('spec', isSet(spec, 'rules') ? rules : null, 'either `defaultBackend` or `rules` must be specified')]
      : []),
    ...(backend ? backendErrors('spec.defaultBackend', backend) : []),
    ...rules.flatMap((rule, at) => ruleErrors(index('spec.rules', at), rule, tolerance)),
    ...structsOf(spec, 'tls').flatMap((tls, at) => tlsErrors(index('spec.tls', at), tls, tolerance)),
    ...(className === undefined ? [] : dnsSubdomainErrors('spec.ingressClassName', className)),
  ];
}

const hostErrors = (path: string, host: string): FieldError[] =>
  invalidFor(path, host, host.includes('*') ? wildcardSubdomainReasons(host) : dnsSubdomainReasons(host));

function ruleErrors(path: string, rule: JsonObject, { wildcardRules }: Tolerance): FieldError[] {
  const host = textOf(rule, 'host');
  const hostPath = child(path, 'host');
  const errors: FieldError[] = [];
  if (host !== '') {
    if (parseIp(host)) errors.push(invalid(hostPath, host, 'must be a DNS name, not an IP address'));
    errors.push(...hostErrors(hostPath, host));
  }
  if (host.includes('*') && wildcardRules) return errors;
  return [...errors, ...httpErrors(path, rule)];
}

function httpErrors(rulePath: string, rule: JsonObject): FieldError[] {
  const http = optionalStruct(rule, 'http');
  if (!http) return [];
  const path = child(child(rulePath, 'http'), 'paths');
  const paths = structsOf(http, 'paths');
  if (paths.length === 0) return [required(path, '')];
  return paths.flatMap((one, at) => pathErrors(index(path, at), one));
}

function pathErrors(path: string, rule: JsonObject): FieldError[] {
  const type = optionalText(rule, 'pathType');
  if (type === undefined) return [required(child(path, 'pathType'), 'pathType must be specified')];
  const url = textOf(rule, 'path');
  const urlPath = child(path, 'path');
  const isRelative = !url.startsWith('/');
  const errors: FieldError[] = [];
  if (type === 'Exact' || type === 'Prefix') {
    if (isRelative) errors.push(invalid(urlPath, url, 'must be an absolute path'));
    for (const bad of badSequences) {
      if (url.includes(bad)) errors.push(invalid(urlPath, url, `must not contain '${bad}'`));
    }
    for (const bad of badEndings) {
      if (url.endsWith(bad)) errors.push(invalid(urlPath, url, `cannot end with '${bad}'`));
    }
  } else if (type === 'ImplementationSpecific') {
    if (url !== '' && isRelative) errors.push(invalid(urlPath, url, 'must be an absolute path'));
  } else {
    errors.push(notSupported(child(path, 'pathType'), type, pathTypes));
  }
  return [...errors, ...backendErrors(child(path, 'backend'), structOf(rule, 'backend'))];
}

function backendErrors(path: string, backend: JsonObject): FieldError[] {
  const [resource, service] = [optionalStruct(backend, 'resource'), optionalStruct(backend, 'service')];
  if (resource && service) return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return referenceErrors(child(path, 'resource'), resource);
  if (!service) return [invalid(path, '', 'resource or service backend is required')];
  const name = textOf(service, 'name');
  const namePath = `${path}.service.name`;
  return [
    ...(name === '' ? [required(namePath, '')] : dnsLabelErrors(namePath, name)),
    ...portErrors(path, structOf(service, 'port')),
  ];
}

function portErrors(path: string, port: JsonObject): FieldError[] {
  const [name, number] = [textOf(port, 'name'), numberOf(port, 'number')];
  if (name !== '' && number !== 0) return [invalid(path, '', 'cannot set both port name & port number')];
  if (name !== '') return invalidFor(`${path}.service.port.name`, name, portNameReasons(name));
  if (number !== 0) return invalidFor(`${path}.service.port.number`, number, portNumberReasons(number));
  return [required(path, 'port name or number is required')];
}

/** Checks a reference to an object in the same namespace, by group, kind and name. */
export function referenceErrors(path: string, reference: JsonObject): FieldError[] {
  const group = optionalText(reference, 'apiGroup');
  return [
    ...(group === undefined ? [] : dnsSubdomainErrors(child(path, 'apiGroup'), group)),
    ...pathSegmentErrors(child(path, 'kind'), textOf(reference, 'kind')),
    ...pathSegmentErrors(child(path, 'name'), textOf(reference, 'name')),
  ];
}

const secretErrors = (path: string, tls: JsonObject): FieldError[] => {
  const name = textOf(tls, 'secretName');
  return name === '' ? [] : dnsSubdomainErrors(child(path, 'secretName'), name);
};

const tlsErrors = (path: string, tls: JsonObject, { secretNames }: Tolerance): FieldError[] => [
  ...textsOf(tls, 'hosts').flatMap((host, at) => hostErrors(index(child(path, 'hosts'), at), host)),
  ...(secretNames ? [] : secretErrors(path, tls)),
];

/** Stored values stay valid. */
const toleranceOf = (old: KubeObject): Tolerance => ({
  secretNames: structsOf(structOf(old, 'spec'), 'tls').some((tls) => secretErrors('', tls).length > 0),
  wildcardRules: structsOf(structOf(old, 'spec'), 'rules').some(
    (rule) => textOf(rule, 'host').includes('*') && httpErrors('', rule).length > 0,
  ),
});

function classErrors(object: KubeObject): FieldError[] {
  const annotated = entry(object.metadata.annotations ?? {}, classAnnotation);
  const className = optionalText(structOf(object, 'spec'), 'ingressClassName');
  if (annotated === undefined || className === undefined || annotated === className) return [];
  const rule = 'must match `ingressClassName` when both are specified';
  return [invalid(`annotations.${classAnnotation}`, annotated, rule)];
}

const loadBalancer = (object: KubeObject): JsonObject => structOf(structOf(object, 'status'), 'loadBalancer');

export const ingress: KindValidation = {
  create: (object) => [...specErrors(object, { secretNames: false, wildcardRules: false }), ...classErrors(object)],
  update(object, old, subresource) {
    if (subresource !== 'status') return specErrors(object, toleranceOf(old));
    const path = 'status.loadBalancer.ingress';
    return loadBalancerErrors(path, loadBalancer(object), loadBalancer(old), { withMode: false });
  },
  warnings(object, old) {
    if (old) {
      return structsOf(loadBalancer(object), 'ingress').flatMap((one, at) =>
        isSet(one, 'ip') ? ipWarnings(index('status.loadBalancer.ingress', at), textOf(one, 'ip')) : [],
      );
    }
    const isAnnotated = Object.hasOwn(object.metadata.annotations ?? {}, classAnnotation);
    if (!isAnnotated || isSet(structOf(object, 'spec'), 'ingressClassName')) return [];
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
};
