/** Roles and their bindings. The authorizer checks whether the writer may grant these permissions. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsSubdomainReasons } from '../formats.ts';
import { invalidFor, oneOfErrors, pathSegmentErrors, requiredErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { isEmpty, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';

const group = 'rbac.authorization.k8s.io';

const rulesErrors = (object: KubeObject, isNamespaced: boolean): FieldError[] =>
  structsOf(object, 'rules').flatMap((rule, at) => ruleErrors(index('rules', at), rule, isNamespaced));

function ruleErrors(path: string, rule: JsonObject, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isEmpty(rule, 'verbs')) errors.push(required(child(path, 'verbs'), 'verbs must contain at least one value'));
  const urls = textsOf(rule, 'nonResourceURLs');
  if (urls.length > 0) {
    const refuse = (why: string): number => errors.push(invalid(child(path, 'nonResourceURLs'), urls, why));
    if (isNamespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (['apiGroups', 'resources', 'resourceNames'].some((field) => !isEmpty(rule, field))) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (isEmpty(rule, 'apiGroups')) {
    errors.push(required(child(path, 'apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (isEmpty(rule, 'resources')) {
    errors.push(required(child(path, 'resources'), 'resource rules must supply at least one resource'));
  }
  return errors;
}

function aggregationErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const aggregation = optionalStruct(object, 'aggregationRule');
  if (!aggregation) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = structsOf(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  const invalidValues = selectorsOf(old).some((one) => labelSelectorErrors('', one).length > 0);
  return selectors.flatMap((selector, at) => {
    const errors = labelSelectorErrors(index(path, at), selector, { invalidValues });
    // Kubernetes then builds the selector, which fails for the same reasons and shows none.
    const isBroken = labelSelectorErrors('', selector).length > 0;
    return isBroken ? [...errors, invalid(index(path, at), null, 'invalid label selector.')] : errors;
  });
}

const selectorsOf = (role: KubeObject | undefined): readonly JsonObject[] =>
  structsOf(structOf(role, 'aggregationRule'), 'clusterRoleSelectors');

export const role: KindValidation = {
  create: (object) => rulesErrors(object, true),
  update: (object) => rulesErrors(object, true),
};

export const clusterRole: KindValidation = {
  create: (object) => [...rulesErrors(object, false), ...aggregationErrors(object, undefined)],
  update: (object, old) => [...rulesErrors(object, false), ...aggregationErrors(object, old)],
};

function bindingErrors(object: KubeObject, isNamespaced: boolean): FieldError[] {
  const reference = structOf(object, 'roleRef');
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...oneOfErrors('roleRef.apiGroup', textOf(reference, 'apiGroup'), [group]),
    ...oneOfErrors('roleRef.kind', textOf(reference, 'kind'), kinds),
    ...pathSegmentErrors('roleRef.name', textOf(reference, 'name')),
    ...structsOf(object, 'subjects').flatMap((subject, at) =>
      subjectErrors(index('subjects', at), subject, isNamespaced),
    ),
  ];
}

const subjectKinds = ['ServiceAccount', 'User', 'Group'];

function subjectErrors(path: string, subject: JsonObject, isNamespaced: boolean): FieldError[] {
  const name = textOf(subject, 'name');
  const subjectGroup = textOf(subject, 'apiGroup');
  const errors = [...requiredErrors(child(path, 'name'), name)];
  switch (textOf(subject, 'kind')) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...invalidFor(child(path, 'name'), name, dnsSubdomainReasons(name)));
      if (subjectGroup !== '') errors.push(notSupported(child(path, 'apiGroup'), subjectGroup, ['']));
      if (!isNamespaced) errors.push(...requiredErrors(child(path, 'namespace'), textOf(subject, 'namespace')));
      break;
    case 'User':
    case 'Group':
      errors.push(...oneOfErrors(child(path, 'apiGroup'), subjectGroup, [group]));
      break;
    default:
      errors.push(notSupported(child(path, 'kind'), textOf(subject, 'kind'), subjectKinds));
  }
  return errors;
}

/** The role reference of a binding is immutable: otherwise its users could gain more than its creator had. */
function referenceChangeErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const reference = structOf(object, 'roleRef');
  if (equalValues(reference, structOf(old, 'roleRef'))) return [];
  const shown = {
    APIGroup: textOf(reference, 'apiGroup'),
    Kind: textOf(reference, 'kind'),
    Name: textOf(reference, 'name'),
  };
  return [invalid('roleRef', shown, 'cannot change roleRef')];
}

const binding = (isNamespaced: boolean): KindValidation => ({
  create: (object) => bindingErrors(object, isNamespaced),
  update: (object, old) => [...bindingErrors(object, isNamespaced), ...referenceChangeErrors(object, old)],
});

export const roleBinding: KindValidation = binding(true);
export const clusterRoleBinding: KindValidation = binding(false);
