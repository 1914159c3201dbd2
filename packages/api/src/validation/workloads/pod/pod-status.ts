/** Status of a pod, as reported by the kubelet and controllers. */

import type { KubeObject } from '../../../object.ts';
import { child, duplicate, forbidden, index, internal, invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { idReasons, nameIsSubdomain } from '../../formats.ts';
import { parseIp } from '../../shared/ip.ts';
import { checkQualifiedName, checkReasons, immutableReason, isSet } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import { checkIp, isDualStack } from '../base/ip-addresses.ts';
import { serverValue } from '../server-form/render.ts';
import type { PodSpec } from '../types/pod.ts';
import type { ContainerStatus, PodStatus } from '../types/status.ts';
import { checkStateTransitions } from './container-states.ts';
import { checkAllocatedResources, checkExtendedClaim, checkNodeAllocatableClaims } from './device-status.ts';
import { checkAnnotationUpdates, rulesForUpdate, specOf } from './pod.ts';

const statusOf = (pod: KubeObject): PodStatus => (pod['status'] ?? {}) as PodStatus;

export function checkPodStatusUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const [status, before] = [statusOf(pod), statusOf(old)];
  const [spec, oldSpec] = [specOf(pod), specOf(old)];
  checkAnnotationUpdates(errors, pod, old, rulesForUpdate(old));
  checkConditions(errors, 'status.conditions', status);
  if ((spec.nodeName ?? '') !== (oldSpec.nodeName ?? '')) {
    errors.push(forbidden('status.nodeName', 'may not be changed directly'));
  }
  checkNominatedNode(errors, 'status.nominatedNodeName', status, before, oldSpec);
  checkGeneration(errors, 'status.observedGeneration', status.observedGeneration);
  if ((status.qosClass ?? '') !== (before.qosClass ?? '')) {
    errors.push(invalid('status.qosClass', status.qosClass ?? '', immutableReason));
  }
  checkStateTransitions(errors, 'status', { status, before, spec: oldSpec });
  checkClaims(errors, 'status.resourceClaimStatuses', status, spec);
  checkExtendedClaim(errors, 'status.extendedResourceClaimStatus', status, spec);
  checkNodeAllocatableClaims(errors, 'status.nodeAllocatableResourceClaimStatuses', status, spec);
  checkAddresses(errors, 'status.podIPs', 'PodIP', status.podIPs, before.podIPs);
  checkHostAddresses(errors, 'status.hostIPs', status, before);
  for (const kind of statusKinds) checkUsers(errors, child('status', kind), status[kind] ?? [], spec);
  checkAllocatedResources(errors, 'status', status, spec);
  return errors;
}

const statusKinds = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;
const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

function checkConditions(errors: FieldError[], path: string, { conditions }: PodStatus): void {
  for (const [i, { type = '', observedGeneration }] of (conditions ?? []).entries()) {
    checkGeneration(errors, child(index(path, i), 'observedGeneration'), observedGeneration);
    if (!systemConditions.has(type)) checkQualifiedName(errors, child(index(path, i), 'Type'), type);
  }
}

function checkGeneration(errors: FieldError[], path: string, generation = 0): void {
  if (generation < 0) errors.push(invalid(path, generation, 'must be a non-negative integer'));
}

/** The node where a pod may run next: not allowed once it runs. */
function checkNominatedNode(
  errors: FieldError[],
  path: string,
  { nominatedNodeName: name = '' }: PodStatus,
  { nominatedNodeName: before = '' }: PodStatus,
  oldSpec: PodSpec,
): void {
  if (name === '' || name === before) return;
  checkReasons(errors, path, name, nameIsSubdomain(name, false));
  if (oldSpec.nodeName) errors.push(forbidden(path, 'may not be set on pods that are already bound to a node'));
}

function checkClaims(errors: FieldError[], path: string, { resourceClaimStatuses }: PodStatus, spec: PodSpec): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name = '' }) => name));
  const seen = new Set<string>();
  for (const [i, { name = '', resourceClaimName }] of (resourceClaimStatuses ?? []).entries()) {
    const at = index(path, i);
    if (!known.has(name)) {
      errors.push(invalid(child(at, 'name'), name, 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (seen.has(name)) errors.push(duplicate(child(at, 'name'), name));
    seen.add(name);
    if (isSet(resourceClaimName)) {
      const reasons = nameIsSubdomain(resourceClaimName, false);
      checkReasons(errors, child(at, 'resourceClaimName'), resourceClaimName, reasons);
    }
  }
}

type Addresses = List<{ readonly ip?: string }> | undefined;
const textsOf = (addresses: Addresses): string[] => (addresses ?? []).map(({ ip = '' }) => ip);

function checkAddresses(
  errors: FieldError[],
  path: string,
  struct: string,
  addresses: Addresses,
  old: Addresses,
): void {
  const texts = textsOf(addresses);
  for (const [i, text] of texts.entries()) checkIp(errors, index(path, i), text, textsOf(old));
  if (texts.length < 2) return;
  const wrong = texts.findIndex((text) => !parseIp(text));
  if (wrong >= 0) {
    const problem = `failed to check for dual stack with error:invalid IP[${wrong}]: ${texts[wrong]!}`;
    errors.push(internal(path, problem));
  } else if (texts.length === 2 && isDualStack(texts)) return;
  const shown = serverValue(`[]${struct}`, addresses);
  errors.push(invalid(path, shown, 'may specify no more than one IP for each IP family'));
}

function checkHostAddresses(errors: FieldError[], path: string, status: PodStatus, before: PodStatus): void {
  const first = status.hostIPs?.[0];
  if (!first) return;
  if ((status.hostIP ?? '') !== (first.ip ?? '')) {
    errors.push(invalid(child(index(path, 0), 'ip'), first.ip ?? '', 'must be equal to `hostIP`'));
  }
  checkAddresses(errors, path, 'HostIP', status.hostIPs, before.hostIPs);
}

function checkUsers(errors: FieldError[], path: string, statuses: readonly ContainerStatus[], spec: PodSpec): void {
  for (const [i, { user }] of statuses.entries()) {
    if (!user?.linux) continue;
    const at = child(index(path, i), 'user.linux');
    if (spec.os?.name === 'windows') {
      errors.push(forbidden(at, 'cannot be set for a windows pod'));
      continue;
    }
    const { uid = 0, gid = 0, supplementalGroups } = user.linux;
    checkReasons(errors, child(at, 'uid'), uid, idReasons(uid));
    checkReasons(errors, child(at, 'gid'), gid, idReasons(gid));
    for (const [j, group] of (supplementalGroups ?? []).entries()) {
      checkReasons(errors, index(child(at, 'supplementalGroups'), j), group, idReasons(group));
    }
  }
}
