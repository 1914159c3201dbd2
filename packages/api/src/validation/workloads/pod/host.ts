/** Parts that a pod shares with its host, and the resulting rules across parts of a pod. */

import { child, forbidden, index, invalid, notFoundValue, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength } from '../../formats.ts';
import { checkDnsSubdomain, isEmpty, isSet } from '../base/checks.ts';
import type { PodSpec } from '../types/pod.ts';
import { visitContainers } from './containers-of.ts';
import type { PodRules } from './rules.ts';

/** In the host network a container's port must equal the host port. Templates may leave the host port to defaulting. */
export function checkHostPortsMatch(errors: FieldError[], path: string, spec: PodSpec, { isPod }: PodRules): void {
  if (spec.hostNetwork !== true) return;
  for (const [i, { ports }] of (spec.containers ?? []).entries()) {
    for (const [j, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) continue;
      const at = child(index(child(index(path, i), 'ports'), j), 'hostPort');
      errors.push(invalid(at, hostPort, 'must match `containerPort` when `hostNetwork` is true'));
    }
  }
}

export function checkUserNamespace(errors: FieldError[], path: string, spec: PodSpec, rules: PodRules): void {
  if (spec.hostUsers !== false) return;
  const reason = 'when `hostUsers` is false';
  if (spec.hostNetwork && !rules.allowsUserNamespaceOnHostNetwork) {
    errors.push(forbidden(child(path, 'hostNetwork'), reason));
  }
  if (spec.hostPID) errors.push(forbidden(child(path, 'HostPID'), reason));
  if (spec.hostIPC) errors.push(forbidden(child(path, 'HostIPC'), reason));
  if (rules.allowsDevicesInUserNamespace) return;
  for (const { container, path: at } of visitContainers(spec, path)) {
    if (!isEmpty(container.volumeDevices)) errors.push(forbidden(child(at, 'volumeDevices'), reason));
  }
}

/** Limit of the kernel. */
const hostNameMax = 64;

export function checkHostName(errors: FieldError[], path: string, spec: PodSpec): void {
  const { hostnameOverride: name } = spec;
  if (!isSet(name)) return;
  if (spec.setHostnameAsFQDN) errors.push(forbidden(path, 'may not be specified when setHostnameAsFQDN is true'));
  if (spec.hostNetwork) errors.push(forbidden(path, 'may not be specified when hostNetwork is true'));
  if (byteLength(name) > hostNameMax) errors.push(tooLong(path, hostNameMax));
  checkDnsSubdomain(errors, path, name);
}

/** Variables from files: the file must be in a volume with the lifetime of the pod. */
export function checkFileKeyVolumes(errors: FieldError[], path: string, spec: PodSpec): void {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name ?? '', volume]));
  for (const { container, path: at } of visitContainers(spec, path)) {
    for (const [i, { valueFrom }] of (container.env ?? []).entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName = '' } = valueFrom.fileKeyRef;
      const namePath = child(index(child(at, 'env'), i), 'valueFrom.fileKeyRef.volumeName');
      const volume = volumes.get(volumeName);
      if (!volume) errors.push(notFoundValue(namePath, volumeName));
      else if (!volume.emptyDir) {
        errors.push(invalid(namePath, volumeName, 'referenced volume must be of type emptyDir'));
      }
    }
  }
}
