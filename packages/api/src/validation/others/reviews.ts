/** Reviews, which are answered and not stored: access reviews, and requests for tokens. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { isEmpty, optionalNumber, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { labelRequirementErrors, operatorErrors } from '../shared/labels.ts';
import { tokenLifetimeErrors } from './csi.ts';

function attributesErrors(spec: JsonObject): FieldError[] {
  const [resource, path] = [optionalStruct(spec, 'resourceAttributes'), optionalStruct(spec, 'nonResourceAttributes')];
  if (resource && path) {
    const rule = 'cannot be specified in combination with resourceAttributes';
    return [invalid('spec.nonResourceAttributes', shownPath(path), rule)];
  }
  if (resource || path) return [];
  const rule = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('spec.resourceAttributes', null, rule)];
}

const shownPath = (attributes: JsonObject): JsonObject => ({
  Path: textOf(attributes, 'path'),
  Verb: textOf(attributes, 'verb'),
});

function selectorsErrors(spec: JsonObject): FieldError[] {
  const attributes = optionalStruct(spec, 'resourceAttributes');
  const path = 'spec.resourceAttributes';
  return [
    ...selectorErrors(child(path, 'fieldSelector'), optionalStruct(attributes, 'fieldSelector'), fieldErrors),
    ...selectorErrors(child(path, 'labelSelector'), optionalStruct(attributes, 'labelSelector'), (at, one) =>
      labelRequirementErrors(at, one, tolerance),
    ),
  ];
}

/** Authorizers of other releases may know more operators. */
const tolerance = { unknownOperators: true };

const fieldErrors = (path: string, requirement: JsonObject): FieldError[] => [
  ...(textOf(requirement, 'key') === '' ? [required(child(path, 'key'), 'must be specified')] : []),
  ...operatorErrors(path, textOf(requirement, 'operator'), textsOf(requirement, 'values'), tolerance),
];

function selectorErrors(
  path: string,
  selector: JsonObject | undefined,
  check: (path: string, requirement: JsonObject) => FieldError[],
): FieldError[] {
  if (!selector) return [];
  const raw = textOf(selector, 'rawSelector');
  const requirements = structsOf(selector, 'requirements');
  const requirementsPath = child(path, 'requirements');
  const errors: FieldError[] = [];
  if (raw !== '' && requirements.length > 0) {
    errors.push(invalid(child(path, 'rawSelector'), raw, 'may not specified at the same time as requirements'));
  }
  if (raw === '' && requirements.length === 0) {
    errors.push(required(requirementsPath, `when ${path} is specified, requirements or rawSelector is required`));
  }
  return [...errors, ...requirements.flatMap((one, at) => check(index(requirementsPath, at), one))];
}

/** A review has no name; of a local one only the namespace is known. */
function metadataErrors(object: KubeObject, mayHaveNamespace: boolean): FieldError[] {
  const { managedFields: _, creationTimestamp: _time, namespace, ...rest } = object.metadata;
  const isFree = (namespace ?? '') === '' || mayHaveNamespace;
  const isBlank = Object.values(rest).every((value) => value === undefined || value === null || value === '');
  if (isFree && isBlank) return [];
  const rule = mayHaveNamespace ? 'must be empty except for namespace' : 'must be empty';
  return [invalid('metadata', { ...rest, ...(namespace === undefined ? {} : { namespace }) }, rule)];
}

function subjectErrors(spec: JsonObject): FieldError[] {
  const user = textOf(spec, 'user');
  if (user !== '' || !isEmpty(spec, 'groups')) return [];
  return [invalid('spec.user', user, 'at least one of user or group must be specified')];
}

const reviewErrors = (object: KubeObject): FieldError[] => {
  const spec = structOf(object, 'spec');
  return [...attributesErrors(spec), ...subjectErrors(spec), ...selectorsErrors(spec)];
};

const onlyCreated = (create: (object: KubeObject) => FieldError[]): KindValidation => ({ create, update: create });

export const subjectAccessReview: KindValidation = onlyCreated((object) => [
  ...reviewErrors(object),
  ...metadataErrors(object, false),
]);

export const selfSubjectAccessReview: KindValidation = onlyCreated((object) => {
  const spec = structOf(object, 'spec');
  return [...attributesErrors(spec), ...selectorsErrors(spec), ...metadataErrors(object, false)];
});

export const localSubjectAccessReview: KindValidation = onlyCreated((object) => {
  const spec = structOf(object, 'spec');
  const resource = optionalStruct(spec, 'resourceAttributes');
  const path = optionalStruct(spec, 'nonResourceAttributes');
  const namespace = textOf(resource, 'namespace');
  const isElsewhere = resource !== undefined && namespace !== (object.metadata.namespace ?? '');
  const namespacePath = 'spec.resourceAttributes.namespace';
  return [
    ...reviewErrors(object),
    ...metadataErrors(object, true),
    ...(isElsewhere ? [invalid(namespacePath, namespace, 'must match metadata.namespace')] : []),
    ...(path ? [invalid('spec.nonResourceAttributes', shownPath(path), 'disallowed on this kind of request')] : []),
  ];
});

export const tokenRequest: KindValidation = onlyCreated((object) =>
  tokenLifetimeErrors('spec.expirationSeconds', optionalNumber(structOf(object, 'spec'), 'expirationSeconds') ?? 0),
);
