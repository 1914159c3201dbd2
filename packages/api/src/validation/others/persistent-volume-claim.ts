/** PersistentVolumeClaim: the spec is immutable, except the size and class of a bound claim. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { Verbatim, child, forbidden, invalid, key, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsLabelReasons } from '../formats.ts';
import {
  dnsSubdomainErrors,
  immutableErrors,
  invalidFor,
  oneOfErrors,
  qualifiedNameErrors,
  requiredErrors,
} from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { isWhole, nanosOf, positiveQuantityErrors } from '../shared/quantities.ts';
import { compareQuantities } from '../../values/quantity.ts';
import { entry, isSet, mapOf, optionalStruct, optionalText, structOf, textOf, textsOf } from '../shared/read.ts';
import { isNative, resourceQuantityErrors } from '../shared/resource-names.ts';
import { prettyServerForm } from '../workloads/server-form/render.ts';
import { unifiedDiff } from '../workloads/server-form/unified-diff.ts';
import { accessModeErrors, quantityErrors, volumeModes } from './persistent-volume.ts';

interface Tolerance {
  readonly selectorValues: boolean;
  readonly apiGroups: boolean;
}

/** Stored values stay valid. */
function toleranceOf(old: KubeObject | undefined): Tolerance {
  const spec = structOf(old, 'spec');
  return {
    selectorValues: labelSelectorErrors('', optionalStruct(spec, 'selector')).length > 0,
    apiGroups: ['dataSource', 'dataSourceRef'].some((field) => isSet(structOf(spec, field), 'apiGroup')),
  };
}

function claimErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = structOf(object, 'spec');
  const tolerance = toleranceOf(old);
  const modes = textsOf(spec, 'accessModes');
  const [className, attributes] = [textOf(spec, 'storageClassName'), textOf(spec, 'volumeAttributesClassName')];
  return [
    ...(modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : []),
    ...labelSelectorErrors('spec.selector', optionalStruct(spec, 'selector'), {
      invalidValues: tolerance.selectorValues,
    }),
    ...accessModeErrors('spec.accessModes', modes),
    ...storageErrors(spec),
    ...(className === '' ? [] : dnsSubdomainErrors('spec.storageClassName', className)),
    ...(isSet(spec, 'volumeMode') ? oneOfErrors('spec.volumeMode', textOf(spec, 'volumeMode'), volumeModes) : []),
    ...sourceErrors(spec, tolerance),
    ...(attributes === '' ? [] : dnsSubdomainErrors('spec.volumeAttributesClassName', attributes)),
  ];
}

const requestOf = (object: KubeObject): string | undefined =>
  entry(mapOf(structOf(structOf(object, 'spec'), 'resources'), 'requests'), 'storage');

function storageErrors(spec: JsonObject): FieldError[] {
  const path = key('spec.resources', 'storage');
  const amount = entry(mapOf(structOf(spec, 'resources'), 'requests'), 'storage');
  if (amount === undefined) return [required(path, '')];
  const errors = positiveQuantityErrors(path, amount);
  return errors.length > 0 ? errors : resourceQuantityErrors(path, 'storage', amount);
}

function sourceErrors(spec: JsonObject, tolerance: Tolerance): FieldError[] {
  const [source, reference] = [optionalStruct(spec, 'dataSource'), optionalStruct(spec, 'dataSourceRef')];
  const namespace = textOf(reference, 'namespace');
  const errors = [
    ...(source ? referenceErrors('spec.dataSource', source, tolerance) : []),
    ...(reference ? referenceErrors('spec.dataSourceRef', reference, tolerance) : []),
    ...(namespace === '' ? [] : invalidFor('spec.dataSourceRef.namespace', namespace, dnsLabelReasons(namespace))),
  ];
  if (!source || !reference) return errors;
  // Kubernetes shows a path here, whose JSON is empty.
  const shown = new Verbatim('{}');
  if (namespace !== '') {
    return [...errors, invalid('spec', shown, 'may not be specified when dataSourceRef.namespace is specified')];
  }
  const isSame = ['apiGroup', 'kind', 'name'].every((field) => source[field] === reference[field]);
  return isSame ? errors : [...errors, invalid('spec', shown, 'must match dataSourceRef')];
}

function referenceErrors(path: string, reference: JsonObject, { apiGroups }: Tolerance): FieldError[] {
  const [group, kind] = [textOf(reference, 'apiGroup'), textOf(reference, 'kind')];
  const isForeign = group === '' && kind !== 'PersistentVolumeClaim';
  const rule = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...requiredErrors(child(path, 'name'), textOf(reference, 'name')),
    ...requiredErrors(child(path, 'kind'), kind),
    ...(isForeign ? [invalid(path, kind, rule)] : []),
    ...(group === '' || apiGroups ? [] : dnsSubdomainErrors(child(path, 'apiGroup'), group)),
  ];
}

const betaClass = 'volume.beta.kubernetes.io/storage-class';

/** Returns the new spec with all mutable fields reset, and the old one with the fields that may be added. */
function comparableSpecs(
  object: KubeObject,
  old: KubeObject,
): { now: JsonObject; before: JsonObject; errors: FieldError[] } {
  const [now, before] = [{ ...structOf(object, 'spec') }, { ...structOf(old, 'spec') }];
  const [annotations, oldAnnotations] = [object.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const [annotated, oldAnnotated] = [entry(annotations, betaClass), entry(oldAnnotations, betaClass)];
  const [className, oldClassName] = [optionalText(now, 'storageClassName'), optionalText(before, 'storageClassName')];
  const errors: FieldError[] = [];
  if (textOf(before, 'volumeName') === '') setField(before, 'volumeName', now['volumeName']);
  const isUpgrade =
    oldAnnotated !== undefined &&
    oldClassName === undefined &&
    className === oldAnnotated &&
    (annotated === undefined || annotated === oldAnnotated);
  if (isUpgrade) delete now['storageClassName'];
  else {
    if ((annotated ?? '') !== (oldAnnotated ?? '')) {
      errors.push(invalid(`metadata.annotations[${betaClass}]`, annotated ?? '', 'field is immutable'));
    }
    const isLate =
      className !== undefined &&
      oldClassName === undefined &&
      (oldAnnotated === undefined || className === oldAnnotated);
    if (isLate) delete now['storageClassName'];
  }
  if (textOf(structOf(object, 'status'), 'phase') === 'Bound') {
    if (isSet(structOf(now, 'resources'), 'requests')) setRequest(now, requestOf(old) ?? '0');
    setField(now, 'volumeAttributesClassName', before['volumeAttributesClassName']);
  }
  return { now, before, errors };
}

function setField(spec: JsonObject, name: string, value: unknown): void {
  if (value === undefined) delete spec[name];
  else spec[name] = value;
}

function setRequest(spec: JsonObject, storage: string): void {
  const resources = structOf(spec, 'resources');
  spec['resources'] = { ...resources, requests: { ...mapOf(resources, 'requests'), storage } };
}

function updateErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [spec, oldSpec] = [structOf(object, 'spec'), structOf(old, 'spec')];
  const { now, before, errors } = comparableSpecs(object, old);
  const all = [...claimErrors(object, old), ...errors];
  if (!equalValues(now, before)) {
    const form = (one: JsonObject): string => prettyServerForm('PersistentVolumeClaimSpec', one);
    all.push(
      forbidden(
        'spec',
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${unifiedDiff(form(before), form(now))}`,
      ),
    );
  }
  return [
    ...all,
    ...shrinkErrors(object, old),
    ...immutableErrors('volumeMode', spec['volumeMode'], oldSpec['volumeMode']),
    ...attributesClassErrors(object, old),
  ];
}

/** A claim whose expansion failed may request less, but not less than its capacity. */
function shrinkErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const size = requestOf(object) ?? '0';
  if (compareQuantities(size, requestOf(old) ?? '0') >= 0) return [];
  const has = entry(mapOf(structOf(old, 'status'), 'capacity'), 'storage') ?? '0';
  if (compareQuantities(size, has) > 0) return [];
  return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

function attributesClassErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const name = optionalText(structOf(object, 'spec'), 'volumeAttributesClassName');
  const isSame = name === optionalText(structOf(old, 'spec'), 'volumeAttributesClassName');
  const hasClass = isSet(structOf(old, 'status'), 'currentVolumeAttributesClassName');
  if (isSame || !hasClass || (name !== undefined && name !== '')) return [];
  const what = name === undefined ? 'nil' : 'empty string';
  const rule = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [forbidden('spec.volumeAttributesClassName', rule)];
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

function statusErrors(object: KubeObject): FieldError[] {
  const status = structOf(object, 'status');
  const capacity = mapOf(status, 'capacity');
  const states = mapOf(status, 'allocatedResourceStatuses');
  const allocated = mapOf(status, 'allocatedResources');
  const statesPath = 'status.allocatedResourceStatuses';
  const allocatedPath = 'status.allocatedResources';
  const hasModes = textsOf(structOf(object, 'spec'), 'accessModes').length > 0;
  return [
    ...(hasModes ? [] : [required('Spec.accessModes', '')]),
    ...Object.keys(capacity).flatMap((name) => quantityErrors(key('status.capacity', name), capacity[name]!)),
    ...Object.keys(states).flatMap((name) => [
      ...resourceKeyErrors(statesPath, name),
      ...(resizeStates.includes(states[name]!) ? [] : [notSupported(statesPath, name, resizeStates)]),
    ]),
    ...Object.keys(allocated).flatMap((name) => {
      const errors = resourceKeyErrors(allocatedPath, name);
      if (errors.length > 0) return errors;
      const path = key(allocatedPath, name);
      const basic = quantityErrors(path, allocated[name]!);
      return basic.length > 0 ? basic : resourceQuantityErrors(path, 'storage', allocated[name]!);
    }),
  ];
}

function resourceKeyErrors(path: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(path, name);
  if (errors.length > 0 || !isNative(name) || name === 'storage') return errors;
  return [notSupported(path, name, ['storage'])];
}

function claimWarnings(object: KubeObject): string[] {
  const resources = structOf(structOf(object, 'spec'), 'resources');
  const isAnnotated = Object.hasOwn(object.metadata.annotations ?? {}, betaClass);
  const advice = 'deprecated since v1.8; use "storageClassName" attribute instead';
  const fractions = ['requests', 'limits'].flatMap((list) => {
    const amount = entry(mapOf(resources, list), 'storage');
    if (amount === undefined || nanosOf(amount) === 0n || isWhole(amount)) return [];
    return [`spec.resources.${list}[storage]: fractional byte value "${amount}" is invalid, must be an integer`];
  });
  return [...(isAnnotated ? [`metadata.annotations[${betaClass}]: ${advice}`] : []), ...fractions];
}

export const persistentVolumeClaim: KindValidation = {
  create: (object) => claimErrors(object, undefined),
  update: (object, old, subresource) => (subresource === 'status' ? statusErrors(object) : updateErrors(object, old)),
  warnings: claimWarnings,
};
