/** Status of a pod's device claims, and the health of the devices. */

import { child, duplicate, index, invalid, key, required, forbidden, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { byteLength, nameIsSubdomain } from '../../formats.ts';
import { isNative } from '../../shared/resource-names.ts';
import { checkDnsLabel, checkOneOf, checkReasons, has, isEmpty, isSet } from '../base/checks.ts';
import { signOf } from '../base/quantities.ts';
import type { Container, PodSpec } from '../types/pod.ts';
import type { AllocatedResource, ContainerStatus, PodStatus } from '../types/status.ts';

export function checkExtendedClaim(errors: FieldError[], path: string, status: PodStatus, spec: PodSpec): void {
  const claim = status.extendedResourceClaimStatus;
  if (!claim) return;
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((container) => [container.name ?? '', container]),
  );
  const mappings = child(path, 'requestMappings');
  if (isEmpty(claim.requestMappings)) errors.push(required(mappings, 'at least one request mapping is required'));
  const seen = new Set<string>();
  for (const [i, mapping] of (claim.requestMappings ?? []).entries()) {
    const at = index(mappings, i);
    const { containerName = '', resourceName = '', requestName = '' } = mapping;
    const container = containers.get(containerName);
    if (!container) {
      const reason = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.push(invalid(child(at, 'containerName'), containerName, reason));
    } else if (!has(container.resources?.requests, resourceName)) {
      const reason =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
      errors.push(invalid(child(at, 'resourceName'), resourceName, reason));
    }
    checkDnsLabel(errors, child(path, 'requestName'), requestName);
    const mark = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(mark)) {
      errors.push(duplicate(child(at, 'containerName'), containerName));
      errors.push(duplicate(child(at, 'resourceName'), resourceName));
      errors.push(duplicate(child(at, 'requestName'), requestName));
    }
    seen.add(mark);
  }
  const { resourceClaimName: name = '' } = claim;
  if (name === '') errors.push(required(child(path, 'resourceClaimName'), ''));
  else checkReasons(errors, child(path, 'resourceClaimName'), name, nameIsSubdomain(name, false));
}

export function checkNodeAllocatableClaims(errors: FieldError[], path: string, status: PodStatus, spec: PodSpec): void {
  const known = new Set(
    [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])].map((one) => one.resourceClaimName),
  );
  for (const [i, claim] of (status.nodeAllocatableResourceClaimStatuses ?? []).entries()) {
    const at = index(path, i);
    const { resourceClaimName: name = '', containers, resources } = claim;
    if (name === '') errors.push(required(child(at, 'resourceClaimName'), 'must not be empty'));
    if (!known.has(name)) {
      errors.push(invalid(child(at, 'resourceClaimName'), name, 'no mapping found in pod reference'));
    }
    if (isEmpty(containers)) errors.push(required(child(at, 'containers'), 'must not be empty'));
    const names = sortKeys(Object.keys(resources ?? {}));
    if (names.length === 0) errors.push(required(child(at, 'resources'), 'must not be empty'));
    for (const resource of names) {
      const place = key(child(at, 'resources'), resource);
      if (!isNative(resource)) {
        errors.push(invalid(place, resource, 'must be a node allocatable resource name'));
      }
      const quantity = resources![resource]!;
      if (signOf(quantity) < 0) errors.push(invalid(place, quantity, 'must be non-negative'));
    }
  }
}

export function checkAllocatedResources(errors: FieldError[], path: string, status: PodStatus, spec: PodSpec): void {
  const lists = [
    ['containerStatuses', spec.containers],
    ['initContainerStatuses', spec.initContainers],
  ] as const;
  for (const [kind, containers] of lists) {
    for (const [i, one] of (status[kind] ?? []).entries()) {
      const at = child(index(child(path, kind), i), 'allocatedResourcesStatus');
      checkAllocated(
        errors,
        at,
        one,
        containers?.find(({ name }) => name === one.name),
      );
    }
  }
  for (const [i, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if (isEmpty(allocatedResourcesStatus)) continue;
    const at = child(index(child(path, 'ephemeralContainerStatuses'), i), 'allocatedResourcesStatus');
    errors.push(forbidden(at, 'must not be specified in container status'));
  }
}

function checkAllocated(
  errors: FieldError[],
  path: string,
  { allocatedResourcesStatus }: ContainerStatus,
  container: Container | undefined,
): void {
  for (const [i, resource] of (allocatedResourcesStatus ?? []).entries()) {
    const { name = '' } = resource;
    if (container && !isRequested(container, name)) {
      const reason = name.startsWith('claim:')
        ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
        : "must match one of the container's resource requests";
      errors.push(invalid(child(index(path, i), 'name'), name, reason));
    }
    checkHealth(errors, child(index(path, i), 'resources'), resource);
  }
}

function isRequested({ resources }: Container, name: string): boolean {
  if (!name.startsWith('claim:')) return has(resources?.requests, name);
  return (resources?.claims ?? []).some(
    (claim) => `claim:${claim.name ?? ''}${claim.request ? `/${claim.request}` : ''}` === name,
  );
}

const messageBytesMax = 1024;

function checkHealth(errors: FieldError[], path: string, { resources }: AllocatedResource): void {
  const seen = new Set<string>();
  for (const [i, { resourceID = '', health = '', message }] of (resources ?? []).entries()) {
    const at = index(path, i);
    checkOneOf(errors, child(at, 'health'), health, ['Healthy', 'Unhealthy', 'Unknown']);
    if (message === '') errors.push(required(child(at, 'message'), 'must be non-empty if specified'));
    else if (isSet(message) && byteLength(message) > messageBytesMax) {
      errors.push(tooLong(child(at, 'message'), messageBytesMax));
    }
    if (seen.has(resourceID)) errors.push(duplicate(child(at, 'resourceID'), resourceID));
    seen.add(resourceID);
  }
}
