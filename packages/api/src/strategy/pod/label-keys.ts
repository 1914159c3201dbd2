/**
 * `matchLabelKeys` of affinities and spread constraints: the values of the pod's own labels are added to the selector when the pod is
 * created, so that schedulers evaluate only selectors.
 */

import { objectAt, objectsAt, stringsAt } from '../../defaults/access.ts';
import { isObject } from '../../object.ts';
import type { JsonObject } from '../../object.ts';

export function applyLabelKeys(spec: JsonObject, labels: Readonly<Record<string, string>>): void {
  const affinity = objectAt(spec, 'affinity');
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    for (const term of termsOf(objectAt(affinity, name))) {
      join(term, 'matchLabelKeys', 'In', labels);
      join(term, 'mismatchLabelKeys', 'NotIn', labels);
    }
  }
  for (const constraint of objectsAt(spec, 'topologySpreadConstraints'))
    join(constraint, 'matchLabelKeys', 'In', labels);
}

const termsOf = (affinity: JsonObject | undefined): JsonObject[] => [
  ...objectsAt(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')
    .map(({ podAffinityTerm }) => podAffinityTerm)
    .filter(isObject),
  ...objectsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'),
];

/** Without a selector nothing matches, regardless of the keys. */
function join(term: JsonObject, keys: string, operator: string, labels: Readonly<Record<string, string>>): void {
  const selector = objectAt(term, 'labelSelector');
  if (selector === undefined) return;
  const added = stringsAt(term, keys)
    .filter((key) => Object.hasOwn(labels, key))
    .map((key) => ({ key, operator, values: [labels[key]] }));
  if (added.length > 0) selector['matchExpressions'] = [...objectsAt(selector, 'matchExpressions'), ...added];
}
