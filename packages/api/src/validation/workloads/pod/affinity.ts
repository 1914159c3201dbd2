/** Scheduling constraints of a pod, relative to nodes and to other pods. */

import { child, forbidden, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { labelValueReasons, nameIsLabel, nameIsSubdomain } from '../../formats.ts';
import { checkQualifiedName, checkReasons, isEmpty } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import { checkLabelSelector, hasInvalidValues } from '../base/label-selectors.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import type {
  Affinity,
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../types/pod.ts';
import type { PodRules } from './rules.ts';

const requiredRules = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredRules = 'preferredDuringSchedulingIgnoredDuringExecution';

export function checkAffinity(
  errors: FieldError[],
  path: string,
  affinity: Affinity | undefined,
  rules: PodRules,
): void {
  if (!affinity) return;
  if (affinity.nodeAffinity) checkNodeAffinity(errors, child(path, 'nodeAffinity'), affinity.nodeAffinity, rules);
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const one = affinity[kind];
    if (one) checkPodAffinity(errors, child(path, kind), one, rules.allowsInvalidSelectorValues);
  }
}

function checkNodeAffinity(errors: FieldError[], path: string, affinity: NodeAffinity, rules: PodRules): void {
  const selector = affinity[requiredRules];
  if (selector) {
    const terms = child(child(path, requiredRules), 'nodeSelectorTerms');
    if (isEmpty(selector.nodeSelectorTerms)) {
      errors.push(required(terms, 'must have at least one node selector term'));
    }
    for (const [i, term] of (selector.nodeSelectorTerms ?? []).entries()) {
      checkNodeTerm(errors, index(terms, i), term, rules.allowsInvalidNodeAffinityValues);
    }
  }
  for (const [i, { weight = 0, preference = {} }] of (affinity[preferredRules] ?? []).entries()) {
    const at = index(child(path, preferredRules), i);
    checkWeight(errors, at, weight);
    checkNodeTerm(errors, child(at, 'preference'), preference, true);
  }
}

function checkWeight(errors: FieldError[], path: string, weight: number): void {
  if (weight <= 0 || weight > 100) errors.push(invalid(child(path, 'weight'), weight, 'must be in the range 1-100'));
}

function checkNodeTerm(errors: FieldError[], path: string, term: NodeSelectorTerm, allowsInvalidValues: boolean): void {
  for (const [i, requirement] of (term.matchExpressions ?? []).entries()) {
    checkNodeLabel(errors, index(child(path, 'matchExpressions'), i), requirement, allowsInvalidValues);
  }
  for (const [i, requirement] of (term.matchFields ?? []).entries()) {
    checkNodeField(errors, index(child(path, 'matchFields'), i), requirement);
  }
}

function checkNodeLabel(
  errors: FieldError[],
  path: string,
  { key = '', operator = '', values }: NodeSelectorRequirement,
  allowsInvalidValues: boolean,
): void {
  const valuesPath = child(path, 'values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (isEmpty(values)) errors.push(required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (!isEmpty(values)) {
        errors.push(forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values?.length !== 1) {
        errors.push(required(valuesPath, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
      break;
    default:
      errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  }
  checkQualifiedName(errors, child(path, 'key'), key);
  if (allowsInvalidValues) return;
  for (const [i, value] of (values ?? []).entries()) {
    checkReasons(errors, index(valuesPath, i), value, labelValueReasons(value));
  }
}

/** Nodes can be selected by one field: their name. */
function checkNodeField(
  errors: FieldError[],
  path: string,
  { key = '', operator = '', values }: NodeSelectorRequirement,
): void {
  const valuesPath = child(path, 'values');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  } else if (values?.length !== 1) {
    const reason = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(valuesPath, reason));
  }
  if (key !== 'metadata.name') {
    errors.push(invalid(child(path, 'key'), key, 'not a valid field selector key'));
    return;
  }
  for (const [i, value] of (values ?? []).entries()) {
    checkReasons(errors, index(valuesPath, i), value, nameIsSubdomain(value, false));
  }
}

function checkPodAffinity(
  errors: FieldError[],
  path: string,
  affinity: PodAffinity,
  allowInvalidValues: boolean,
): void {
  for (const [i, term] of (affinity[requiredRules] ?? []).entries()) {
    checkPodTerm(errors, index(child(path, requiredRules), i), term, allowInvalidValues);
  }
  for (const [i, { weight = 0, podAffinityTerm = {} }] of (affinity[preferredRules] ?? []).entries()) {
    const at = index(child(path, preferredRules), i);
    checkWeight(errors, at, weight);
    checkPodTerm(errors, child(at, 'podAffinityTerm'), podAffinityTerm, allowInvalidValues);
  }
}

function checkPodTerm(errors: FieldError[], path: string, term: PodAffinityTerm, allowInvalidValues: boolean): void {
  checkLabelSelector(errors, child(path, 'labelSelector'), term.labelSelector, { allowInvalidValues });
  checkLabelSelector(errors, child(path, 'namespaceSelector'), term.namespaceSelector, { allowInvalidValues });
  for (const name of term.namespaces ?? []) {
    checkReasons(errors, child(path, 'namespace'), name, nameIsLabel(name, false));
  }
  checkMatchLabelKeys(errors, path, term);
  const { topologyKey = '' } = term;
  if (topologyKey === '') errors.push(required(child(path, 'topologyKey'), 'can not be empty'));
  checkQualifiedName(errors, child(path, 'topologyKey'), topologyKey);
}

export interface LabelKeys {
  readonly matchLabelKeys?: List<string> | undefined;
  readonly mismatchLabelKeys?: List<string> | undefined;
  readonly labelSelector?: LabelSelector | undefined;
}

/** Keys whose values are taken from the pod and merged into the selector: they must not be in it already. */
export function checkMatchLabelKeys(errors: FieldError[], path: string, keys: LabelKeys): void {
  const { labelSelector } = keys;
  const [match, mismatch] = [keys.matchLabelKeys ?? [], keys.mismatchLabelKeys ?? []];
  checkKeys(errors, child(path, 'matchLabelKeys'), match, labelSelector);
  checkKeys(errors, child(path, 'mismatchLabelKeys'), mismatch, labelSelector);
  if (labelSelector) {
    const places = new Map(match.map((key, i) => [key, i]));
    const selected = new Set(Object.keys(labelSelector.matchLabels ?? {}));
    // The server has merged each key once; a second requirement comes from the client.
    for (const { key = '' } of labelSelector.matchExpressions ?? []) {
      const i = places.get(key);
      if (i !== undefined && selected.has(key)) {
        errors.push(invalid(index(path, i), key, 'exists in both matchLabelKeys and labelSelector'));
      }
      selected.add(key);
    }
  }
  const excluded = new Set(mismatch);
  for (const [i, key] of match.entries()) {
    if (!excluded.has(key)) continue;
    const at = index(child(path, 'matchLabelKeys'), i);
    errors.push(invalid(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
  }
}

function checkKeys(
  errors: FieldError[],
  path: string,
  keys: readonly string[],
  selector: LabelSelector | undefined,
): void {
  if (keys.length === 0) return;
  if (!selector) {
    errors.push(forbidden(path, 'must not be specified when labelSelector is not set'));
    return;
  }
  for (const [i, key] of keys.entries()) checkQualifiedName(errors, index(path, i), key);
}

/** For selectors of pods. */
export const hasInvalidAffinityValues = (affinity: Affinity | undefined): boolean =>
  [affinity?.podAffinity, affinity?.podAntiAffinity].some((one) =>
    [
      ...(one?.[requiredRules] ?? []),
      ...(one?.[preferredRules] ?? []).map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
    ].some(
      ({ labelSelector, namespaceSelector }) => hasInvalidValues(labelSelector) || hasInvalidValues(namespaceSelector),
    ),
  );

export const hasInvalidNodeAffinityValues = (affinity: Affinity | undefined): boolean =>
  (affinity?.nodeAffinity?.[requiredRules]?.nodeSelectorTerms ?? []).some(hasInvalidValues);
