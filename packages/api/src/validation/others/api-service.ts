/** APIService. Its name is `version.group`. */

import type { KubeObject } from '../../object.ts';
import { child, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dns1035LabelReasons, portNumberReasons } from '../formats.ts';
import { dnsSubdomainErrors, invalidFor, oneOfErrors, pathSegmentReasons, requiredErrors } from '../shared/checks.ts';
import { quote } from '../../status/field-error.ts';
import { flagOf, numberOf, optionalStruct, structOf, structsOf, textOf } from '../shared/read.ts';
import { base64Length } from './base64-length.ts';

function nameErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const name = object.metadata.name ?? '';
  const wanted = `${textOf(spec, 'version')}.${textOf(spec, 'group')}`;
  // Names that do not fit into a path are refused with all other metadata.
  if (name === wanted || pathSegmentReasons(name).length > 0) return [];
  return [invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`)];
}

function create(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const [group, version] = [textOf(spec, 'group'), textOf(spec, 'version')];
  const isNameless = group === '' && version !== 'v1';
  return [
    ...nameErrors(object),
    ...(isNameless ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')] : []),
    ...(group === '' ? [] : dnsSubdomainErrors('spec.group', group)),
    ...invalidFor('spec.version', version, dns1035LabelReasons(version)),
    ...priorityErrors('spec.groupPriorityMinimum', numberOf(spec, 'groupPriorityMinimum'), 20_000),
    ...priorityErrors('spec.versionPriority', numberOf(spec, 'versionPriority'), 1000),
    ...backendErrors(object),
  ];
}

const priorityErrors = (path: string, priority: number, max: number): FieldError[] =>
  priority > 0 && priority <= max ? [] : [invalid(path, priority, `must be positive and less than ${max}`)];

function backendErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const service = optionalStruct(spec, 'service');
  const bundleBytes = base64Length(textOf(spec, 'caBundle'));
  const isInsecure = flagOf(spec, 'insecureSkipTLSVerify');
  const insecure = (rule: string): FieldError[] =>
    isInsecure ? [invalid('spec.insecureSkipTLSVerify', true, rule)] : [];
  if (!service) {
    const rule = 'local APIServices may not have a caBundle';
    return [
      ...(bundleBytes > 0 ? [invalid('spec.caBundle', `${bundleBytes} bytes`, rule)] : []),
      ...insecure('local APIServices may not have insecureSkipTLSVerify'),
    ];
  }
  const port = numberOf(service, 'port');
  const reasons = portNumberReasons(port);
  return [
    ...requiredErrors('spec.service.namespace', textOf(service, 'namespace')),
    ...requiredErrors('spec.service.name', textOf(service, 'name')),
    ...(reasons.length > 0 ? [invalid('spec.service.port', port, `port is not valid: ${reasons.join(', ')}`)] : []),
    ...(bundleBytes > 0 ? insecure('may not be true if caBundle is present') : []),
  ];
}

const statusErrors = (object: KubeObject): FieldError[] =>
  structsOf(structOf(object, 'status'), 'conditions').flatMap((condition, at) =>
    oneOfErrors(child(index('status.conditions', at), 'status'), textOf(condition, 'status'), [
      'True',
      'False',
      'Unknown',
    ]),
  );

export const apiService: KindValidation = {
  create,
  update: (object, _old, subresource) => (subresource === 'status' ? statusErrors(object) : create(object)),
};
