/**
 * Validation of CustomResourceDefinitions, on creation and on update. Everything but metadata, with two exceptions that
 * depend on the spec: the name, and the approval of Kubernetes' own groups.
 */

import { parseUrl } from '@hangar/cel';
import type { KubeObject } from '../../object.ts';
import { child, index, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { asDefinition, isTrue } from '../custom-resource-definition.ts';
import type { CustomResourceDefinition } from '../custom-resource-definition.ts';
import { boundedErrors } from '../bounded-errors.ts';
import { deepEqual } from '../structural/canonical.ts';
import { isCaBundle } from './ca-bundle.ts';
import { hasKnownReviewVersion } from './conversion-rules.ts';
import { internalSpec } from './internal-spec.ts';
import { namesErrors, specErrors } from './spec-rules.ts';
import type { SpecOptions } from './spec-rules.ts';

const newSpec: SpecOptions = {
  requiresKnownReviewVersion: true,
  allowsInvalidCaBundle: true,
  unchangedSchemas: new Set(),
  unchangedSelectable: new Set(),
};

export function validateDefinition(crd: KubeObject): FieldError[] {
  const definition = asDefinition(crd);
  const { spec, metadata } = definition;
  const errors: FieldError[] = [];
  const expected = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`;
  if (metadata.name && metadata.name !== expected) {
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...specErrors(internalSpec(spec), 'spec', newSpec), ...commonErrors(definition, undefined));
  return boundedErrors(errors);
}

export function validateDefinitionUpdate(crd: KubeObject, oldCrd: KubeObject): FieldError[] {
  const definition = asDefinition(crd);
  const old = asDefinition(oldCrd);
  const errors = specErrors(internalSpec(definition.spec), 'spec', updateOptions(definition, old));
  const immutable = (path: string, value: unknown, before: unknown): void => {
    if (!deepEqual(value, before)) errors.push(invalid(path, value, 'field is immutable'));
  };
  const { spec } = definition;
  if (isTrue(old, 'Established')) {
    immutable('spec.scope', spec.scope, old.spec.scope);
    immutable('spec.names.kind', spec.names.kind, old.spec.names.kind);
  }
  immutable('spec.group', spec.group, old.spec.group);
  immutable('spec.names.plural', spec.names.plural, old.spec.names.plural);
  return boundedErrors([...errors, ...commonErrors(definition, old)]);
}

/** A write to the status: the accepted names must be valid names. */
export const validateDefinitionStatus = (crd: KubeObject): FieldError[] => statusErrors(asDefinition(crd));

function updateOptions(definition: CustomResourceDefinition, old: CustomResourceDefinition): SpecOptions {
  const before = internalSpec(old.spec);
  const reviewVersions = before.conversion?.reviewVersions ?? [];
  const oldBundle = before.conversion?.client?.caBundle;
  const versionOf = (name: string) => old.spec.versions.find((version) => version.name === name);
  const isUnchanged = (name: string, part: 'schema' | 'selectableFields'): boolean => {
    const version = definition.spec.versions.find((one) => one.name === name);
    const oldVersion = versionOf(name);
    return oldVersion !== undefined && deepEqual(version?.[part], oldVersion[part]);
  };
  const names = definition.spec.versions.map(({ name }) => name);
  const sameSelectable = names.filter((name) => isUnchanged(name, 'selectableFields'));
  const isAllSame = sameSelectable.length === names.length;
  return {
    requiresKnownReviewVersion: reviewVersions.length === 0 || hasKnownReviewVersion(reviewVersions),
    allowsInvalidCaBundle: !isTrue(old, 'Established') || (oldBundle ? !isCaBundle(oldBundle) : false),
    unchangedSchemas: new Set(names.filter((name) => isUnchanged(name, 'schema'))),
    unchangedSelectable: new Set([...sameSelectable, ...(isAllSame ? [''] : [])]),
  };
}

function commonErrors(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const errors = [...statusErrors(definition), ...storedVersionErrors(definition), ...approvalErrors(definition, old)];
  if (definition.spec.preserveUnknownFields && !old?.spec.preserveUnknownFields) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalid('spec.preserveUnknownFields', true, detail));
  }
  return errors;
}

function statusErrors({ status }: CustomResourceDefinition): FieldError[] {
  return status?.acceptedNames ? namesErrors(status.acceptedNames, 'status.acceptedNames') : [];
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0)
    return [invalid(path, status?.storedVersions ?? null, 'must have at least one stored version')];
  const errors: FieldError[] = [];
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !stored.includes(name)) errors.push(invalid(path, stored, `must have the storage version ${name}`));
  }
  for (const [i, name] of stored.entries()) {
    if ((spec.versions ?? []).some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(index(path, i), name, detail));
  }
  return errors;
}

const approvalAnnotation = 'api-approved.kubernetes.io';
type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

const see = 'see https://github.com/kubernetes/enhancements/pull/1111';

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

/** Returns the approval of a definition in a group that belongs to Kubernetes. */
export function approvalOf({ metadata }: KubeObject): { readonly state: Approval; readonly reason: string } {
  const text = metadata.annotations?.[approvalAnnotation] ?? '';
  const must = `protected groups must have approval annotation "${approvalAnnotation}"`;
  if (text === '') return { state: 'missing', reason: `${must}, ${see}` };
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(text)}` };
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text) && parseUrl(text) !== undefined;
  if (isUrl) return { state: 'approved', reason: `approved in ${text}` };
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${see}` };
}

function approvalErrors(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!isProtectedGroup(definition.spec.group ?? '')) return [];
  const { state, reason } = approvalOf(definition);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const path = key(child('metadata', 'annotations'), approvalAnnotation);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, definition.metadata.annotations?.[approvalAnnotation], reason)] : [];
}
