/** Claims of storage inside workloads: those of ephemeral volumes and those that a StatefulSet makes. */

import { child, forbidden, invalid, key, notSupported, required, Verbatim } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { dnsSubdomainReasons, nameIsLabel, nameIsSubdomain } from '../../formats.ts';
import { checkOneOf, checkReasons, checkRequired, has, isEmpty, isSet } from '../base/checks.ts';
import { checkLabels, checkLabelSelector } from '../base/label-selectors.ts';
import { checkPositiveQuantity, checkResourceQuantity, signOf } from '../base/quantities.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedReference } from '../types/volume.ts';
import { checkAnnotationNames } from './annotation-names.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** The server fills these in; a template cannot know them. */
const metadataFields = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

export function checkClaimTemplate(
  errors: FieldError[],
  path: string,
  { metadata, spec }: PersistentVolumeClaim,
): void {
  const metadataPath = child(path, 'metadata');
  checkAnnotationNames(errors, child(metadataPath, 'annotations'), metadata?.annotations);
  checkLabels(errors, child(metadataPath, 'labels'), metadata?.labels);
  for (const name of metadataFields) {
    const value = metadata?.[name];
    const isZero = !value || (Array.isArray(value) && value.length === 0);
    if (!isZero) errors.push(forbidden(child(metadataPath, name === 'uid' ? 'uID' : name), 'cannot be set'));
  }
  checkClaimSpec(errors, child(path, 'spec'), spec ?? {});
}

export function checkClaimSpec(errors: FieldError[], path: string, spec: PersistentVolumeClaimSpec): void {
  const modesPath = child(path, 'accessModes');
  const modes = spec.accessModes ?? [];
  if (isEmpty(modes)) errors.push(required(modesPath, 'at least 1 access mode is required'));
  checkLabelSelector(errors, child(path, 'selector'), spec.selector);
  for (const mode of modes) checkOneOf(errors, modesPath, mode, accessModes);
  const known = new Set(modes.filter((mode) => accessModes.includes(mode)));
  if (known.has('ReadWriteOncePod') && known.size > 1) {
    errors.push(forbidden(modesPath, 'may not use ReadWriteOncePod with other access modes'));
  }
  checkStorage(errors, key(child(path, 'resources'), 'storage'), spec);
  const { storageClassName, volumeMode, volumeAttributesClassName } = spec;
  if (storageClassName)
    checkReasons(errors, child(path, 'storageClassName'), storageClassName, nameIsSubdomain(storageClassName, false));
  if (isSet(volumeMode) && volumeMode !== 'Block' && volumeMode !== 'Filesystem') {
    errors.push(notSupported(child(path, 'volumeMode'), volumeMode, ['Block', 'Filesystem']));
  }
  checkSources(errors, path, spec);
  if (volumeAttributesClassName) {
    const at = child(path, 'volumeAttributesClassName');
    checkReasons(errors, at, volumeAttributesClassName, nameIsSubdomain(volumeAttributesClassName, false));
  }
}

function checkStorage(errors: FieldError[], path: string, { resources }: PersistentVolumeClaimSpec): void {
  if (!has(resources?.requests, 'storage')) {
    errors.push(required(path, ''));
    return;
  }
  const amount = resources!.requests!['storage']!;
  if (signOf(amount) <= 0) checkPositiveQuantity(errors, path, amount);
  else checkResourceQuantity(errors, path, 'storage', amount);
}

function checkSources(
  errors: FieldError[],
  path: string,
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
): void {
  if (dataSource) checkReference(errors, child(path, 'dataSource'), dataSource);
  if (dataSourceRef) {
    checkReference(errors, child(path, 'dataSourceRef'), dataSourceRef);
    const { namespace } = dataSourceRef;
    if (namespace) {
      checkReasons(errors, child(path, 'dataSourceRef.namespace'), namespace, nameIsLabel(namespace, false));
    }
  }
  if (!dataSource || !dataSourceRef) return;
  // The server shows the path's inner form here, which has no fields that JSON could show.
  const shown = new Verbatim('{}');
  if (dataSourceRef.namespace) {
    errors.push(invalid(path, shown, 'may not be specified when dataSourceRef.namespace is specified'));
  } else if (
    dataSource.apiGroup !== dataSourceRef.apiGroup ||
    dataSource.kind !== dataSourceRef.kind ||
    dataSource.name !== dataSourceRef.name
  ) {
    errors.push(invalid(path, shown, 'must match dataSourceRef'));
  }
}

function checkReference(errors: FieldError[], path: string, reference: TypedReference): void {
  const { apiGroup = '', kind = '', name } = reference;
  checkRequired(errors, child(path, 'name'), name);
  checkRequired(errors, child(path, 'kind'), kind);
  if (apiGroup === '') {
    if (kind !== 'PersistentVolumeClaim') {
      errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
    }
  } else {
    checkReasons(errors, child(path, 'apiGroup'), apiGroup, dnsSubdomainReasons(apiGroup));
  }
}
