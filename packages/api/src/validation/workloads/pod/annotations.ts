/** Annotations of pods with a meaning: older forms of fields. */

import { child, forbidden, invalid, key, quote } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { has } from '../base/checks.ts';
import type { TextMap } from '../base/checks.ts';
import { checkDescendingPath } from '../base/paths.ts';
import type { PodSpec, ProfileField, Toleration } from '../types/pod.ts';
import { visitContainers } from './containers-of.ts';
import type { PodRules } from './rules.ts';
import { checkTolerations } from './tolerations.ts';

export const mirrorAnnotation = 'kubernetes.io/config.mirror';
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations';
const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
export const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** A 32-bit number in its plainest form. */
export function isDeletionCostValid(annotations: TextMap | undefined): boolean {
  if (!has(annotations, deletionCostAnnotation)) return true;
  const text = annotations![deletionCostAnnotation]!;
  if (!/^(?:0|-?[1-9]\d{0,9})$/.test(text)) return false;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31;
}

export function checkPodAnnotations(
  errors: FieldError[],
  path: string,
  annotations: TextMap | undefined,
  { spec, rules }: { readonly spec: PodSpec; readonly rules: PodRules },
): void {
  const at = (name: string): string | undefined => (has(annotations, name) ? annotations![name] : undefined);
  const mirror = at(mirrorAnnotation);
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(key(path, mirrorAnnotation), mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  }
  const tolerations = at(tolerationsAnnotation);
  if (tolerations) checkTolerationsText(errors, path, tolerations, rules);
  if (!rules.allowsInvalidDeletionCost && !isDeletionCostValid(annotations)) {
    errors.push(invalid(key(path, deletionCostAnnotation), at(deletionCostAnnotation), 'must be a 32bit integer'));
  }
  const podProfile = at(seccompPodAnnotation);
  if (podProfile !== undefined) checkSeccompText(errors, child(path, seccompPodAnnotation), podProfile);
  for (const name of sortKeys(Object.keys(annotations ?? {}))) {
    if (name.startsWith(seccompContainerPrefix)) checkSeccompText(errors, child(path, name), annotations![name]!);
  }
  checkAppArmorTexts(errors, path, annotations, spec);
}

function checkTolerationsText(errors: FieldError[], path: string, text: string, rules: PodRules): void {
  let tolerations: unknown;
  try {
    tolerations = JSON.parse(text);
  } catch {
    errors.push(invalid(path, tolerationsAnnotation, 'invalid character in JSON'));
    return;
  }
  if (!Array.isArray(tolerations)) return;
  checkTolerations(errors, child(path, tolerationsAnnotation), tolerations as Toleration[], rules);
}

function checkSeccompText(errors: FieldError[], path: string, profile: string): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith('localhost/')) checkDescendingPath(errors, path, profile.slice('localhost/'.length));
  else errors.push(invalid(path, profile, 'must be a valid seccomp profile'));
}

function checkAppArmorTexts(errors: FieldError[], path: string, annotations: TextMap | undefined, spec: PodSpec): void {
  for (const name of sortKeys(Object.keys(annotations ?? {}))) {
    if (!name.startsWith(appArmorPrefix)) continue;
    const container = name.slice(appArmorPrefix.length);
    if (!visitContainers(spec, '').some(({ container: one }) => (one.name ?? '') === container)) {
      errors.push(invalid(key(path, name), container, 'container not found'));
    }
    const profile = annotations![name]!;
    const isKnown = profile === '' || profile === 'runtime/default' || profile === 'unconfined';
    if (!isKnown && !profile.startsWith('localhost/')) {
      errors.push(invalid(key(path, name), profile, `invalid AppArmor profile name: ${quote(profile)}`));
    }
  }
}

/** An annotation and a field that both speak must agree. */
export function checkProfilesAgree(
  errors: FieldError[],
  specPath: string,
  { annotations, spec }: { readonly annotations: TextMap | undefined; readonly spec: PodSpec },
): void {
  const seccomp = spec.securityContext?.seccompProfile;
  if (seccomp && has(annotations, seccompPodAnnotation)) {
    const at = child(child(specPath, 'securityContext'), 'seccompProfile');
    checkAgreement(errors, at, { kind: 'seccomp', text: annotations![seccompPodAnnotation]!, field: seccomp });
  }
  const containers = visitContainers(spec, specPath);
  for (const { container, path } of containers) {
    const field = container.securityContext?.seccompProfile;
    const name = `${seccompContainerPrefix}${container.name ?? ''}`;
    if (!field || !has(annotations, name)) continue;
    const at = child(child(path, 'securityContext'), 'seccompProfile');
    checkAgreement(errors, at, { kind: 'seccomp', text: annotations![name]!, field });
  }
  if (spec.os?.name === 'windows') return;
  for (const { container, path } of containers) {
    const field = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const name = `${appArmorPrefix}${container.name ?? ''}`;
    if (!field || !has(annotations, name)) continue;
    const at = child(child(path, 'securityContext'), 'appArmorProfile');
    checkAgreement(errors, at, { kind: 'apparmor', text: annotations![name]!, field });
  }
}

function checkAgreement(
  errors: FieldError[],
  path: string,
  { kind, text, field }: { readonly kind: 'seccomp' | 'apparmor'; readonly text: string; readonly field: ProfileField },
): void {
  const disagree = (): void => {
    errors.push(forbidden(child(path, 'type'), `${kind} type in annotation and field must match`));
  };
  if (field.type === 'Unconfined' && text !== 'unconfined') disagree();
  const isDefault = text === 'runtime/default' || (kind === 'seccomp' && text === 'docker/default');
  if (field.type === 'RuntimeDefault' && !isDefault) disagree();
  if (field.type !== 'Localhost') return;
  if (!text.startsWith('localhost/')) disagree();
  else if (text.slice('localhost/'.length) !== field.localhostProfile) {
    errors.push(forbidden(child(path, 'localhostProfile'), `${kind} profile in annotation and field must match`));
  }
}
