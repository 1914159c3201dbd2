/** The downward API: fields and resources of the pod, in files and in environment variables. */

import { child, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { signOf } from '../base/quantities.ts';
import { checkQualifiedName, checkReasons, checkRequired, isSet } from '../base/checks.ts';
import { checkFileMode, checkLocalPath } from '../base/paths.ts';
import { qualifiedNameReasons } from '../../formats.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../types/pod.ts';
import type { DownwardApiFile } from '../types/volume.ts';

const volumeFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

export const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Valid fields of pods; not all are supported everywhere. */
const knownFields = new Set([
  ...volumeFields,
  ...environmentFields,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function checkFieldSelector(
  errors: FieldError[],
  path: string,
  { apiVersion = '', fieldPath = '' }: ObjectFieldSelector,
  allowed: readonly string[],
): void {
  if (apiVersion === '' || fieldPath === '') {
    errors.push(required(child(path, apiVersion === '' ? 'apiVersion' : 'fieldPath'), ''));
    return;
  }
  const converted = convertField(apiVersion, fieldPath);
  if ('problem' in converted) {
    const detail = `error converting fieldPath: ${converted.problem}`;
    errors.push(invalid(child(path, 'fieldPath'), fieldPath, detail));
    return;
  }
  const { field, subscript } = converted;
  if (subscript === undefined) {
    if (!allowed.includes(field)) errors.push(notSupported(child(path, 'fieldPath'), field, allowed));
  } else if (field === 'metadata.annotations') {
    // Keys of annotations are compared in lower case, and shown so.
    const name = subscript.toLowerCase();
    checkReasons(errors, path, name, qualifiedNameReasons(name));
  } else {
    checkQualifiedName(errors, path, subscript);
  }
}

type Converted = { readonly field: string; readonly subscript?: string } | { readonly problem: string };

function convertField(version: string, fieldPath: string): Converted {
  if (version !== 'v1') return { problem: `unsupported pod version: ${version}` };
  const [, field, subscript] = /^([^]+?)\['([^]*)'\]$/.exec(fieldPath) ?? [];
  if (field !== undefined && subscript !== undefined) {
    if (field === 'metadata.annotations' || field === 'metadata.labels') return { field, subscript };
    return { problem: `field label does not support subscript: ${fieldPath}` };
  }
  if (fieldPath === 'spec.host') return { field: 'spec.nodeName' };
  return knownFields.has(fieldPath) ? { field: fieldPath } : { problem: `field label not supported: ${fieldPath}` };
}

const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const isHugePagesField = (resource: string): boolean => /^(?:requests|limits)\.hugepages-/.test(resource);

export function checkResourceFieldSelector(
  errors: FieldError[],
  path: string,
  { containerName = '', resource = '', divisor }: ResourceFieldSelector,
  isInVolume: boolean,
): void {
  if (isInVolume && containerName === '') errors.push(required(child(path, 'containerName'), ''));
  else if (resource === '') errors.push(required(child(path, 'resource'), ''));
  else if (!resources.includes(resource) && !isHugePagesField(resource)) {
    errors.push(notSupported(child(path, 'resource'), resource, resources));
  }
  if (isSet(divisor) && signOf(divisor) !== 0) checkDivisor(errors, child(path, 'divisor'), resource, String(divisor));
}

const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function checkDivisor(errors: FieldError[], path: string, resource: string, divisor: string): void {
  if (/^(?:limits|requests)\.cpu$/.test(resource)) {
    if (divisor === '1' || divisor === '1m') return;
    errors.push(invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource"));
    return;
  }
  const kind = isHugePagesField(resource) ? 'hugepages' : byteResources.get(resource.split('.')[1] ?? '');
  if (kind === undefined || !(isHugePagesField(resource) || resources.includes(resource))) return;
  if (byteDivisors.includes(divisor)) return;
  const reason = `only divisor's values ${byteDivisors.join(', ')} are supported with the ${kind} resource`;
  errors.push(invalid(path, resource, reason));
}

const byteResources = new Map([
  ['memory', 'memory'],
  ['ephemeral-storage', 'local ephemeral storage'],
]);

export function checkDownwardApiFile(errors: FieldError[], path: string, file: DownwardApiFile): void {
  checkRequired(errors, child(path, 'path'), file.path);
  checkLocalPath(errors, child(path, 'path'), file.path ?? '');
  if (file.fieldRef) {
    checkFieldSelector(errors, child(path, 'fieldRef'), file.fieldRef, volumeFields);
    if (file.resourceFieldRef) {
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    }
  } else if (file.resourceFieldRef) {
    checkResourceFieldSelector(errors, child(path, 'resourceFieldRef'), file.resourceFieldRef, true);
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  checkFileMode(errors, child(path, 'mode'), file.mode);
}
