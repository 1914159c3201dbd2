/**
 * The metadata of every object: the checks of kube-apiserver on creation and on update, with its messages and order. Paths begin at
 * `metadata`.
 */

import type { ObjectMeta } from '../object.ts';
import { child, forbidden, index, invalid, required, tooLong } from '../status/field-error.ts';
import type { FieldError } from '../status/field-error.ts';
import { byteLength, labelValueReasons, nameIsLabel, nameIsPathSegment } from '../validation/formats.ts';
import { negativeReason, qualifiedNameReasons } from '../validation/formats.ts';
import type { NameRule } from '../validation/formats.ts';
import { managedFieldsErrors } from './managed-fields.ts';
import { ownerReferenceErrors } from './owner-references.ts';

const root = 'metadata';
const at = (field: string): string => child(root, field);

export interface MetadataRules {
  readonly namespaced: boolean;
  /** For kinds of Kubernetes itself: finalizers without a domain must be the well-known ones. */
  readonly standardFinalizers?: boolean;
}

export interface CreationRules extends MetadataRules {
  readonly validateName: NameRule;
}

export interface UpdateRules extends MetadataRules {
  /** For kinds that check a changed object like a new one, such as ConfigMap: matters for `generateName`. */
  readonly validateName?: NameRule;
}

/** For creation, after a name was generated. */
export function validateMetadata(meta: ObjectMeta, rules: CreationRules): FieldError[] {
  return [...nameErrors(meta, rules.validateName), ...commonErrors(meta, rules.namespaced), ...kindErrors(meta, rules)];
}

/**
 * For an update. `carryOverMetadata` was applied to `meta`. Names are only checked for valid path segments: objects whose names were
 * allowed before can still be changed. Each error is reported once; kube-apiserver reports some repeatedly in the causes of its answer, but
 * not in its message.
 */
export function validateMetadataUpdate(meta: ObjectMeta, old: ObjectMeta, rules: UpdateRules): FieldError[] {
  return [
    ...nameErrors(meta, nameIsPathSegment),
    ...commonErrors(meta, rules.namespaced),
    ...transitionErrors(meta, old),
    ...(rules.validateName ? nameErrors(meta, rules.validateName) : []),
    ...kindErrors(meta, rules),
  ];
}

/** Restores the fields that no client may change, before an update is validated. Changes `meta`. */
export function carryOverMetadata(meta: ObjectMeta, old: ObjectMeta): void {
  if (old.generation === undefined) delete meta.generation;
  else meta.generation = old.generation;
  if (!meta.uid && old.uid) meta.uid = old.uid;
  if (old.creationTimestamp) meta.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp) meta.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) meta.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

function nameErrors({ name, generateName }: ObjectMeta, rule: NameRule): FieldError[] {
  const errors: FieldError[] = [];
  if (generateName) {
    for (const reason of rule(generateName, true)) errors.push(invalid(at('generateName'), generateName, reason));
  }
  if (!name) errors.push(required(at('name'), 'name or generateName is required'));
  else for (const reason of rule(name, false)) errors.push(invalid(at('name'), name, reason));
  return errors;
}

function commonErrors(meta: ObjectMeta, namespaced: boolean): FieldError[] {
  const { generation = 0 } = meta;
  return [
    ...namespaceErrors(meta.namespace ?? '', namespaced),
    ...(generation < 0 ? [invalid(at('generation'), generation, negativeReason)] : []),
    ...labelErrors(meta.labels ?? {}, at('labels')),
    ...annotationErrors(meta.annotations ?? {}, at('annotations')),
    ...ownerReferenceErrors(meta.ownerReferences ?? [], at('ownerReferences')),
    ...finalizerErrors(meta.finalizers ?? [], at('finalizers')),
    ...managedFieldsErrors(meta.managedFields ?? [], at('managedFields')),
  ];
}

function namespaceErrors(namespace: string, namespaced: boolean): FieldError[] {
  const path = at('namespace');
  if (!namespaced) return namespace === '' ? [] : [forbidden(path, 'not allowed on this type')];
  if (namespace === '') return [required(path, '')];
  return nameIsLabel(namespace, false).map((reason) => invalid(path, namespace, reason));
}

export function labelErrors(labels: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(labels)) {
    const value = labels[key] ?? '';
    for (const reason of qualifiedNameReasons(key)) errors.push(invalid(path, key, reason));
    for (const reason of labelValueReasons(value)) errors.push(invalid(path, value, reason));
  }
  return errors;
}

const annotationBytesMax = 256 * 1024;

export function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const key of Object.keys(annotations)) {
    // Unlike the keys of labels, these may have capitals in their domain.
    for (const reason of qualifiedNameReasons(key.toLowerCase())) errors.push(invalid(path, key, reason));
    bytes += byteLength(key) + byteLength(annotations[key] ?? '');
  }
  if (bytes > annotationBytesMax) errors.push(tooLong(path, annotationBytesMax));
  return errors;
}

function finalizerErrors(finalizers: readonly string[], path: string): FieldError[] {
  const errors = finalizers.flatMap((one) => qualifiedNameReasons(one).map((reason) => invalid(path, one, reason)));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

const wellKnownFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function kindErrors({ finalizers = [] }: ObjectMeta, { standardFinalizers = false }: MetadataRules): FieldError[] {
  if (!standardFinalizers) return [];
  return finalizers.flatMap((one, place) =>
    one.includes('/') || wellKnownFinalizers.has(one)
      ? []
      : [
          invalid(
            index(at('finalizers'), place),
            one,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

const immutable = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const;

function transitionErrors(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) errors.push(...newFinalizerErrors(meta.finalizers ?? [], old.finalizers ?? []));
  if (!meta.resourceVersion) {
    errors.push(invalid(at('resourceVersion'), '', 'must be specified for an update'));
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(at('generation'), meta.generation ?? 0, 'must not be decremented'));
  }
  for (const field of immutable) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) errors.push(changed(field, meta[field]));
  }
  const seconds = 'deletionGracePeriodSeconds';
  if (meta[seconds] !== old[seconds]) errors.push(changed(seconds, meta[seconds]));
  return errors;
}

function changed(field: string, value: unknown): FieldError {
  const shown = value ?? (field.endsWith('Timestamp') || field.endsWith('Seconds') ? null : '');
  return invalid(at(field), shown, 'field is immutable');
}

function newFinalizerErrors(finalizers: readonly string[], old: readonly string[]): FieldError[] {
  const added = [...new Set(finalizers).difference(new Set(old))].sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
  return [
    forbidden(
      at('finalizers'),
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ];
}
