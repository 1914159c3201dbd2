/** Pods: their validation, and the few fields that may change. */

import type { KubeObject } from '../../../object.ts';
import { weightOf } from '../../../json/scan.ts';
import { child, forbidden, index, invalid, key, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { rangeReason } from '../../formats.ts';
import { has, isEmpty, isSet } from '../base/checks.ts';
import type { List, TextMap } from '../base/checks.ts';
import { equalStructs } from '../../../fields/semantic-equality.ts';
import { prettyServerForm } from '../server-form/render.ts';
import { unifiedDiff } from '../server-form/unified-diff.ts';
import type { Container, PodSpec, Toleration } from '../types/pod.ts';
import { appArmorPrefix, checkPodAnnotations, checkProfilesAgree, mirrorAnnotation } from './annotations.ts';
import { checkImageText, checkImageTexts } from './containers.ts';
import { checkNodeAffinityGrowth, checkNodeSelectorGrowth, withoutNodeChanges } from './gated-pod.ts';
import { checkPodSpec } from './pod-spec.ts';
import { podRules } from './rules.ts';
import type { PodRules } from './rules.ts';
import { checkTolerations } from './tolerations.ts';

export const specOf = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

export function checkNewPod(pod: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = specOf(pod);
  checkPod(errors, pod, podRules(true));
  if (!isEmpty(spec.ephemeralContainers)) {
    errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (spec.nodeName && !isEmpty(spec.schedulingGates)) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  checkProfilesAgree(errors, 'spec', { annotations: pod.metadata.annotations, spec });
  return errors;
}

/** Checks of every pod, new or old. */
export function checkPod(errors: FieldError[], pod: KubeObject, rules: PodRules): void {
  const { metadata } = pod;
  const spec = specOf(pod);
  checkPodAnnotations(errors, 'metadata.annotations', metadata.annotations, { spec, rules });
  checkPodSpec(errors, 'spec', spec, { rules, metadata });
  if (!spec.serviceAccountName) checkNoTokens(errors, 'spec.volumes', spec);
  checkImageTexts(errors, 'spec.containers', spec.containers);
  checkImageTexts(errors, 'spec.initContainers', spec.initContainers);
}

function checkNoTokens(errors: FieldError[], path: string, { volumes }: PodSpec): void {
  for (const [i, { projected }] of (volumes ?? []).entries()) {
    for (const [j, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const at = child(index(child(child(index(path, i), 'projected'), 'sources'), j), 'serviceAccountToken');
      errors.push(forbidden(at, 'must not be specified when serviceAccountName is not set'));
    }
  }
}

export const rulesForUpdate = (old: KubeObject): PodRules =>
  podRules(true, { spec: specOf(old), metadata: old.metadata });

export function checkPodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const rules = rulesForUpdate(old);
  checkPod(errors, pod, rules);
  checkAnnotationUpdates(errors, pod, old, rules);
  const isComparable =
    checkSameContainers(errors, 'spec.containers', specOf(pod).containers, specOf(old).containers) &&
    checkSameContainers(errors, 'spec.initContainers', specOf(pod).initContainers, specOf(old).initContainers);
  if (isComparable && checkDeadline(errors, specOf(pod), specOf(old))) checkSpecUpdate(errors, pod, old, rules);
  return errors;
}

/** Annotations that the kubelet used when the pod started. */
export function checkAnnotationUpdates(errors: FieldError[], pod: KubeObject, old: KubeObject, rules: PodRules): void {
  const path = 'metadata.annotations';
  const [annotations, before]: (TextMap | undefined)[] = [pod.metadata.annotations, old.metadata.annotations];
  for (const name of sortKeys(Object.keys(before ?? {}))) {
    if (has(annotations, name) && annotations![name] === before![name]) continue;
    refuseAnnotation(errors, key(path, name), name, 'remove or update');
  }
  for (const name of sortKeys(Object.keys(annotations ?? {}))) {
    if (!has(before, name)) refuseAnnotation(errors, key(path, name), name, 'add');
  }
  checkPodAnnotations(errors, path, annotations, { spec: specOf(pod), rules });
}

function refuseAnnotation(errors: FieldError[], path: string, name: string, verb: string): void {
  if (name.startsWith(appArmorPrefix)) errors.push(forbidden(path, `may not ${verb} AppArmor annotations`));
  if (name === mirrorAnnotation) errors.push(forbidden(path, `may not ${verb} mirror pod annotation`));
}

/** Returns false if a further comparison is pointless. */
function checkSameContainers(
  errors: FieldError[],
  path: string,
  containers: List<Container> | undefined,
  old: List<Container> | undefined,
): boolean {
  if ((containers?.length ?? 0) !== (old?.length ?? 0)) {
    errors.push(forbidden(path, 'pod updates may not add or remove containers'));
    return false;
  }
  for (const [i, container] of (containers ?? []).entries()) {
    if (!container.image) errors.push(required(child(index(path, i), 'image'), ''));
    checkImageText(errors, index(path, i), container);
  }
  return true;
}

/** A deadline may decrease, but not be removed. */
function checkDeadline(errors: FieldError[], spec: PodSpec, old: PodSpec): boolean {
  const path = 'spec.activeDeadlineSeconds';
  const { activeDeadlineSeconds: deadline } = spec;
  if (!isSet(deadline)) {
    if (isSet(old.activeDeadlineSeconds)) {
      errors.push(invalid(path, null, 'must not update from a positive integer to nil value'));
    }
    return true;
  }
  if (deadline < 0 || deadline > 2 ** 31 - 1) {
    errors.push(invalid(path, deadline, rangeReason(0, 2 ** 31 - 1)));
    return false;
  }
  if (isSet(old.activeDeadlineSeconds) && old.activeDeadlineSeconds < deadline) {
    errors.push(invalid(path, deadline, 'must be less than or equal to previous value'));
    return false;
  }
  return true;
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** A spec with more values is not shown: the text would be many times as long. */
const shownWeightMax = 10_000;

function shownChange(old: object, changed: object): string {
  const isLarge = [old, changed].some((spec) => weightOf(spec, shownWeightMax) > shownWeightMax);
  if (isLarge) return '(the change is too large to be shown)';
  return unifiedDiff(prettyServerForm('PodSpec', old as never), prettyServerForm('PodSpec', changed as never));
}

function checkSpecUpdate(errors: FieldError[], pod: KubeObject, oldPod: KubeObject, rules: PodRules): void {
  const [spec, old] = [specOf(pod), specOf(oldPod)];
  checkOnlyAddedTolerations(errors, 'spec.tolerations', spec, old, rules);
  checkOnlyRemovedGates(errors, 'spec.schedulingGates', spec, old);
  if (equalStructs('core/v1.PodSpec', spec, old)) return;
  let rest = withoutAllowedChanges(spec, old);
  if (!isEmpty(old.schedulingGates)) {
    checkNodeSelectorGrowth(errors, 'spec.nodeSelector', rest, old);
    checkNodeAffinityGrowth(errors, 'spec.affinity.nodeAffinity', rest, old);
    rest = withoutNodeChanges(rest, old);
  }
  if (equalStructs('core/v1.PodSpec', rest, old)) return;
  errors.push(
    forbidden('spec', `pod updates may not change fields other than ${updatable}\n${shownChange(old, rest)}`),
  );
}

function checkOnlyAddedTolerations(
  errors: FieldError[],
  path: string,
  { tolerations }: PodSpec,
  old: PodSpec,
  rules: PodRules,
): void {
  for (const toleration of old.tolerations ?? []) {
    if ((tolerations ?? []).some((one) => isSameToleration(one, toleration))) continue;
    errors.push(forbidden(path, 'existing toleration can not be modified except its tolerationSeconds'));
    return;
  }
  checkTolerations(errors, path, tolerations, rules);
}

const isSameToleration = (a: Toleration, b: Toleration): boolean =>
  (['key', 'operator', 'value', 'effect'] as const).every((name) => (a[name] ?? '') === (b[name] ?? ''));

function checkOnlyRemovedGates(errors: FieldError[], path: string, { schedulingGates }: PodSpec, old: PodSpec): void {
  const known = new Set((old.schedulingGates ?? []).map(({ name = '' }) => name));
  for (const [i, { name = '' }] of (schedulingGates ?? []).entries()) {
    if (known.has(name)) continue;
    const reason = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbidden(child(index(path, i), 'name'), reason));
  }
}

function withoutAllowedChanges(spec: PodSpec, old: PodSpec): PodSpec {
  const withImages = (containers: List<Container> | undefined, before: List<Container> | undefined): Container[] =>
    (containers ?? []).map((container, i) => ({ ...container, image: before![i]!.image ?? '' }));
  const { activeDeadlineSeconds: _, ...others } = spec;
  const isRepaired = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  return {
    ...others,
    containers: withImages(spec.containers, old.containers),
    ...(isEmpty(spec.initContainers) ? {} : { initContainers: withImages(spec.initContainers, old.initContainers) }),
    ...(isSet(old.activeDeadlineSeconds) ? { activeDeadlineSeconds: old.activeDeadlineSeconds } : {}),
    schedulingGates: old.schedulingGates ?? null,
    tolerations: old.tolerations ?? null,
    ...(isRepaired ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds! } : {}),
  };
}
