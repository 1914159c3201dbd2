/** Volume mounts of containers: as directories, or as devices. */

import { child, forbidden, index, invalid, notFoundValue, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkOneOf, isSet } from '../base/checks.ts';
import { checkDescendingPath, hasBacksteps } from '../base/paths.ts';
import type { Container, VolumeMount } from '../types/pod.ts';
import type { VolumeSource } from '../types/volume.ts';

export type Volumes = ReadonlyMap<string, VolumeSource>;

export function checkMounts(errors: FieldError[], path: string, container: Container, volumes: Volumes): void {
  const mountsPath = child(path, 'volumeMounts');
  const devices = container.volumeDevices ?? [];
  // The last one of devices with the same name counts.
  const byName = new Map(devices.map(({ name = '', devicePath = '' }) => [name, devicePath]));
  const paths = new Set(byName.values());
  const seen = new Set<string>();
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const at = index(mountsPath, i);
    const { name = '', mountPath = '' } = mount;
    const [namePath, pathPath] = [child(at, 'name'), child(at, 'mountPath')];
    if (name === '') errors.push(required(namePath, ''));
    if (!volumes.has(name)) errors.push(notFoundValue(namePath, name));
    if (mountPath === '') errors.push(required(pathPath, ''));
    if (seen.has(mountPath)) errors.push(invalid(pathPath, mountPath, 'must be unique'));
    seen.add(mountPath);
    if (byName.has(name)) errors.push(invalid(namePath, name, 'must not already exist in volumeDevices'));
    if (paths.has(mountPath)) {
      errors.push(invalid(pathPath, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    checkSubPath(errors, mountsPath, at, mount);
    checkPropagation(errors, mountsPath, mount, container);
    checkRecursion(errors, child(mountsPath, 'recursiveReadOnly'), mount);
  }
}

/** The paths of some errors leave out the index. */
function checkSubPath(
  errors: FieldError[],
  path: string,
  indexed: string,
  { subPath = '', subPathExpr = '' }: VolumeMount,
): void {
  if (subPath !== '') checkDescendingPath(errors, child(path, 'subPath'), subPath);
  if (subPathExpr === '') return;
  if (subPath !== '') {
    const reason = 'subPathExpr and subPath are mutually exclusive';
    errors.push(invalid(child(indexed, 'subPathExpr'), subPathExpr, reason));
  }
  checkDescendingPath(errors, child(path, 'subPathExpr'), subPathExpr);
}

function checkPropagation(errors: FieldError[], path: string, mount: VolumeMount, container: Container): void {
  const { mountPropagation } = mount;
  if (!isSet(mountPropagation)) return;
  const at = child(path, 'mountPropagation');
  checkOneOf(errors, at, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']);
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    errors.push(forbidden(at, 'Bidirectional mount propagation is available only to privileged containers'));
  }
}

function checkRecursion(errors: FieldError[], path: string, mount: VolumeMount): void {
  const { recursiveReadOnly: recursion, readOnly, mountPropagation } = mount;
  if (!isSet(recursion) || recursion === 'Disabled') return;
  if (recursion !== 'Enabled' && recursion !== 'IfPossible') {
    checkOneOf(errors, path, recursion, ['Disabled', 'Enabled', 'IfPossible']);
    return;
  }
  if (readOnly !== true) errors.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (isSet(mountPropagation) && mountPropagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
}

export function checkDevices(errors: FieldError[], path: string, container: Container, volumes: Volumes): void {
  const mounts = container.volumeMounts ?? [];
  const byName = new Map(mounts.map(({ name = '', mountPath = '' }) => [name, mountPath]));
  const mountPaths = new Set(byName.values());
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [i, { name = '', devicePath = '' }] of (container.volumeDevices ?? []).entries()) {
    const at = index(child(path, 'volumeDevices'), i);
    const [namePath, pathPath] = [child(at, 'name'), child(at, 'devicePath')];
    const volume = volumes.get(name);
    if (name === '') errors.push(required(namePath, ''));
    if (names.has(name)) errors.push(invalid(namePath, name, 'must be unique'));
    if (!volume) errors.push(notFoundValue(namePath, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const reason = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(invalid(namePath, name, reason));
    }
    if (devicePath === '') errors.push(required(pathPath, ''));
    if (paths.has(devicePath)) errors.push(invalid(pathPath, devicePath, 'must be unique'));
    if (hasBacksteps(devicePath)) errors.push(invalid(pathPath, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (byName.has(name)) errors.push(invalid(namePath, name, 'must not already exist in volumeMounts'));
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(pathPath, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
  }
}
