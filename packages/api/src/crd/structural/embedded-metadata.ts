/** The rules for metadata inside custom resources: those of all metadata, with any name that fits into a path. */

import type { ObjectMeta } from '../../object.ts';
import { child, invalid, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import {
  byteLength,
  dnsLabelReasons,
  labelValueReasons,
  nameIsPathSegment,
  negativeReason,
  qualifiedNameReasons,
} from '../../validation/formats.ts';

const annotationsBytesMax = 256 * 1024;

export function metadataErrors(metadata: ObjectMeta, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value: string | undefined, reasons: readonly string[]): void => {
    for (const reason of value ? reasons : []) errors.push(invalid(child(path, field), value, reason));
  };
  const { generateName = '', name = '', namespace = '', generation = 0 } = metadata;
  check('generateName', generateName, nameIsPathSegment(generateName, true));
  check('name', name, nameIsPathSegment(name, false));
  check('namespace', namespace, dnsLabelReasons(namespace));
  if (generation < 0) errors.push(invalid(child(path, 'generation'), generation, negativeReason));
  errors.push(...labelErrors(metadata.labels ?? {}, child(path, 'labels')));
  errors.push(...annotationErrors(metadata.annotations ?? {}, child(path, 'annotations')));
  errors.push(...ownerErrors(metadata.ownerReferences ?? [], child(path, 'ownerReferences')));
  for (const finalizer of metadata.finalizers ?? []) check('finalizers', finalizer, qualifiedNameReasons(finalizer));
  return errors;
}

const labelErrors = (labels: Readonly<Record<string, string>>, path: string): FieldError[] =>
  Object.entries(labels).flatMap(([label, value]) => [
    ...qualifiedNameReasons(label).map((reason) => invalid(path, label, reason)),
    ...labelValueReasons(value).map((reason) => invalid(path, value, reason)),
  ]);

function annotationErrors(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([name]) =>
    qualifiedNameReasons(name.toLowerCase()).map((reason) => invalid(path, name, reason)),
  );
  const bytes = entries.reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  return bytes > annotationsBytesMax ? [...errors, tooLong(path, annotationsBytesMax)] : errors;
}

function ownerErrors(owners: NonNullable<ObjectMeta['ownerReferences']>, path: string): FieldError[] {
  return owners.flatMap((owner) => {
    const errors: FieldError[] = [];
    if ((owner.apiVersion ?? '') === '') {
      errors.push(invalid(child(path, 'apiVersion'), '', 'version must not be empty'));
    }
    for (const field of ['kind', 'name', 'uid'] as const) {
      if ((owner[field] ?? '') === '') errors.push(invalid(child(path, field), '', 'must not be empty'));
    }
    return errors;
  });
}
