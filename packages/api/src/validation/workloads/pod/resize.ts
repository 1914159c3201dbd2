/** Changing the resources of a running pod: cpu and memory, nothing else, and never the class of the pod. */

import { objectAt } from '../../../defaults/access.ts';
import { qosClass } from '../../../defaults/quality-of-service.ts';
import { equalPointers, equalStructs } from '../../../fields/semantic-equality.ts';
import type { KubeObject } from '../../../object.ts';
import { child, forbidden, index, invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { has, isSet } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { Container, PodSpec, ResourceRequirements } from '../types/pod.ts';
import type { PodStatus } from '../types/status.ts';
import { mirrorAnnotation } from './annotations.ts';
import { checkPod, rulesForUpdate, specOf } from './pod.ts';

export function checkPodResize(pod: KubeObject, old: KubeObject): FieldError[] {
  const [spec, oldSpec] = [specOf(pod), specOf(old)];
  if (has(old.metadata.annotations, mirrorAnnotation)) return [forbidden('', 'static pods cannot be resized')];
  if (oldSpec.os?.name === 'windows') return [forbidden('', 'windows pods cannot be resized')];
  const errors: FieldError[] = [];
  checkPod(errors, pod, rulesForUpdate(old));
  const status = (pod['status'] ?? {}) as PodStatus;
  const oldStatus = (old['status'] ?? {}) as PodStatus;
  if ((oldStatus.qosClass || qosClass(objectAt(old, 'spec'))) !== qosClass(objectAt(pod, 'spec'))) {
    errors.push(invalid('spec', status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = (oldStatus.containerStatuses ?? []).find(({ state }) => state?.running);
  if (running && !running.resources) errors.push(forbidden('spec', 'Pod running on node without support for resize'));
  let rest = spec;
  if (hasOwnResources(spec) || hasOwnResources(oldSpec)) rest = checkPodLevel(errors, spec, oldSpec);
  if ((oldStatus.nodeAllocatableResourceClaimStatuses?.length ?? 0) > 0) {
    errors.push(forbidden('spec', 'pods with node allocatable resource claims cannot be resized'));
  }
  const isAligned = (['containers', 'initContainers'] as const)
    .map((kind) => checkOrder(errors, kind, spec[kind] ?? [], oldSpec[kind] ?? []))
    .every(Boolean);
  if (!isAligned) return errors;
  checkContainers(errors, spec, oldSpec);
  if (errors.length > 0) return errors;
  rest = {
    ...rest,
    containers: withOldAmounts(spec.containers, oldSpec.containers),
    initContainers: withOldAmounts(spec.initContainers, oldSpec.initContainers),
  };
  if (!equalStructs('core/v1.PodSpec', rest, oldSpec)) {
    errors.push(forbidden('spec', 'only cpu and memory resources are mutable'));
  }
  return errors;
}

const hasOwnResources = ({ resources }: PodSpec): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

/** Answers the spec with the old amounts of the pod as a whole. */
function checkPodLevel(errors: FieldError[], spec: PodSpec, old: PodSpec): PodSpec {
  const path = 'spec.resources';
  if (old.resources && !spec.resources) {
    errors.push(forbidden(path, 'pod-level resources cannot be removed'));
    return spec;
  }
  for (const kind of ['requests', 'limits'] as const) {
    if (old.resources && isAnyRemoved(spec.resources?.[kind], old.resources[kind])) {
      errors.push(forbidden(child(path, kind), `pod-level resource ${kind} cannot be removed`));
    }
  }
  const restored = spec.resources && restoreAmounts(spec.resources, old.resources);
  const isNothing = !old.resources && isEmptyRequirements(restored);
  const resources = isNothing ? undefined : restored;
  if (!equalPointers('core/v1.ResourceRequirements', resources, old.resources)) {
    errors.push(forbidden('spec', 'only cpu and memory resources are mutable at pod-level'));
  }
  const { resources: _, ...others } = spec;
  return resources ? { ...others, resources } : others;
}

const isEmptyRequirements = (requirements: ResourceRequirements | undefined): boolean =>
  [requirements?.limits, requirements?.requests, requirements?.claims].every(
    (part) => Object.keys(part ?? {}).length === 0,
  );

function checkOrder(
  errors: FieldError[],
  kind: 'containers' | 'initContainers',
  containers: readonly Container[],
  old: readonly Container[],
): boolean {
  const path = child('spec', kind);
  if (containers.length !== old.length) {
    errors.push(forbidden(path, `${kind} may not be added or removed on resize`));
    return false;
  }
  let isSame = true;
  for (const [i, { name }] of old.entries()) {
    if (containers[i]!.name === name) continue;
    errors.push(forbidden(child(index(path, i), 'name'), `${kind} may not be renamed or reordered on resize`));
    isSame = false;
  }
  return isSame;
}

function checkContainers(errors: FieldError[], spec: PodSpec, old: PodSpec): void {
  for (const kind of ['initContainers', 'containers'] as const) {
    for (const [i, before] of (old[kind] ?? []).entries()) {
      const path = child(index(child('spec', kind), i), 'resources');
      for (const part of ['requests', 'limits'] as const) {
        if (!isAnyRemoved(spec[kind]![i]!.resources?.[part], before.resources?.[part])) continue;
        errors.push(forbidden(child(path, part), `resource ${part} cannot be removed`));
      }
    }
  }
  for (const [i, before] of (old.containers ?? []).entries()) {
    const restored = withOldAmount(spec.containers![i]!, before);
    if (equalStructs('core/v1.Container', restored, before)) continue;
    errors.push(forbidden('spec', 'only cpu and memory resources are mutable'));
  }
  for (const [i, before] of (old.initContainers ?? []).entries())
    checkInit(errors, i, spec.initContainers![i]!, before);
}

function checkInit(errors: FieldError[], i: number, container: Container, before: Container): void {
  const path = index('spec.initContainers', i);
  if (!equalStructs('core/v1.Container', withOldAmount(container, before), before)) {
    errors.push(forbidden(path, 'only cpu and memory resources for init or sidecar containers are mutable'));
  }
  if (container.restartPolicy === 'Always' || equalStructs('core/v1.Container', container, before)) return;
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy !== 'RestartContainer') continue;
    const reason = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';
    errors.push(forbidden(path, reason));
  }
}

const isAnyRemoved = (amounts: ResourceList | undefined, old: ResourceList | undefined): boolean =>
  Object.keys(old ?? {}).some((name) => !has(amounts, name));

const withOldAmounts = (containers: List<Container> | undefined, old: List<Container> | undefined): Container[] =>
  (containers ?? []).map((container, i) => withOldAmount(container, old![i]!));

/** Claims are removed: a container with claims can only be resized if it had none. */
const withOldAmount = (container: Container, old: Container): Container => {
  const { limits, requests } = restoreAmounts(container.resources ?? {}, old.resources);
  return { ...container, resources: { limits: limits ?? null, requests: requests ?? null } };
};

function restoreAmounts(now: ResourceRequirements, old: ResourceRequirements | undefined): ResourceRequirements {
  return { ...now, limits: restore(now.limits, old?.limits), requests: restore(now.requests, old?.requests) };
}

function restore(now: ResourceList | undefined, old: ResourceList | undefined): ResourceList {
  if (!isSet(now) && !isSet(old)) return null;
  const others = Object.entries(now ?? {}).filter(([name]) => name !== 'cpu' && name !== 'memory');
  const kept = Object.entries(old ?? {}).filter(([name]) => name === 'cpu' || name === 'memory');
  return Object.fromEntries([...others, ...kept]);
}
