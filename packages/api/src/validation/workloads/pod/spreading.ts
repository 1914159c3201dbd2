/** Topology spread constraints of pods. */

import { child, duplicate, forbidden, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkOneOf, checkPositive, checkQualifiedName, isSet } from '../base/checks.ts';
import { checkLabelSelector } from '../base/label-selectors.ts';
import type { PodSpec, TopologySpreadConstraint } from '../types/pod.ts';
import { checkMatchLabelKeys } from './affinity.ts';
import type { PodRules } from './rules.ts';

export function checkSpreading(errors: FieldError[], path: string, spec: PodSpec, rules: PodRules): void {
  const constraints = spec.topologySpreadConstraints ?? [];
  const last = new Map(constraints.map((constraint, i) => [pairOf(constraint), i]));
  for (const [i, constraint] of constraints.entries()) {
    const at = index(path, i);
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' } = constraint;
    checkPositive(errors, child(at, 'maxSkew'), maxSkew);
    if (topologyKey === '') errors.push(required(child(at, 'topologyKey'), 'can not be empty'));
    checkOneOf(errors, child(at, 'whenUnsatisfiable'), whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
    // All but the last of equal ones are reported.
    if (last.get(pairOf(constraint)) !== i) {
      errors.push(duplicate(child(at, '{topologyKey, whenUnsatisfiable}'), pairOf(constraint)));
    }
    checkDomains(errors, at, constraint);
    checkKeys(errors, at, constraint, rules);
    if (!rules.allowsInvalidSpreadSelectors) {
      checkLabelSelector(errors, child(at, 'labelSelector'), constraint.labelSelector);
    }
  }
}

const pairOf = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

function checkDomains(errors: FieldError[], path: string, constraint: TopologySpreadConstraint): void {
  const { minDomains, whenUnsatisfiable = '' } = constraint;
  if (isSet(minDomains)) {
    const at = child(path, 'minDomains');
    checkPositive(errors, at, minDomains);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const reason = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.push(invalid(at, minDomains, reason));
    }
  }
  for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const policy = constraint[name];
    if (isSet(policy)) checkOneOf(errors, child(path, name), policy, ['Honor', 'Ignore']);
  }
}

function checkKeys(errors: FieldError[], path: string, constraint: TopologySpreadConstraint, rules: PodRules): void {
  const { matchLabelKeys, labelSelector } = constraint;
  if (!rules.hasInvalidSpreadKeys) {
    checkMatchLabelKeys(errors, path, { matchLabelKeys, labelSelector });
    return;
  }
  const keysPath = child(path, 'matchLabelKeys');
  const keys = matchLabelKeys ?? [];
  if (keys.length > 0 && !labelSelector) {
    errors.push(forbidden(keysPath, 'must not be specified when labelSelector is not set'));
  }
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key = '' }) => key),
  ]);
  for (const [i, key] of keys.entries()) {
    checkQualifiedName(errors, index(keysPath, i), key);
    if (selected.has(key)) {
      errors.push(invalid(index(keysPath, i), key, 'exists in both matchLabelKeys and labelSelector'));
    }
  }
}
