/** IngressClass. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { forbidden, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsLabelReasons, dnsSubdomainReasons, regexReason } from '../formats.ts';
import { immutableErrors, invalidFor, oneOfErrors, tooLongErrors } from '../shared/checks.ts';
import { isSet, optionalStruct, structOf, textOf } from '../shared/read.ts';
import { referenceErrors } from './ingress.ts';

const controllerPath = 'spec.controller';
const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const isPath = new RegExp(`^${pathForm}$`);

const controllerOf = (object: KubeObject): string => textOf(structOf(object, 'spec'), 'controller');

/** `example.com/any/path`. */
function domainPathErrors(path: string, value: string): FieldError[] {
  if (value === '') return [required(path, '')];
  const at = value.indexOf('/');
  const [host, rest] = [value.slice(0, at), value.slice(at + 1)];
  if (at < 1 || rest === '') return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [
    ...invalidFor(path, host, dnsSubdomainReasons(host)),
    ...(isPath.test(rest) ? [] : [invalid(path, rest, regexReason('Invalid path', pathForm))]),
  ];
}

function parametersErrors(parameters: JsonObject | undefined): FieldError[] {
  if (!parameters) return [];
  const path = 'spec.parameters';
  const errors = referenceErrors(path, parameters);
  if (!isSet(parameters, 'scope')) return [...errors, required(`${path}.scope`, '')];
  const scope = textOf(parameters, 'scope');
  errors.push(...oneOfErrors(`${path}.scope`, scope, ['Cluster', 'Namespace']));
  const hasNamespace = isSet(parameters, 'namespace');
  const namespace = textOf(parameters, 'namespace');
  if (scope === 'Namespace') {
    if (!hasNamespace) errors.push(required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else errors.push(...invalidFor(`${path}.namespace`, namespace, dnsLabelReasons(namespace)));
  } else if (scope === 'Cluster' && hasNamespace) {
    errors.push(forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  }
  return errors;
}

const create = (object: KubeObject): FieldError[] => [
  ...tooLongErrors(controllerPath, controllerOf(object), 250),
  ...domainPathErrors(controllerPath, controllerOf(object)),
  ...parametersErrors(optionalStruct(structOf(object, 'spec'), 'parameters')),
];

export const ingressClass: KindValidation = {
  create,
  update: (object, old) => [
    ...immutableErrors(controllerPath, controllerOf(object), controllerOf(old)),
    ...create(object),
  ],
};
