/** Numbers in the status of controllers of pods. */

import { child, invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkNotNegative, isSet } from '../base/checks.ts';

export type Counts = Readonly<Record<string, number | null | undefined>>;

export function checkCounts(errors: FieldError[], path: string, counts: Counts, names: readonly string[]): void {
  for (const name of names) checkNotNegative(errors, child(path, name), counts[name]);
}

/** Parts cannot exceed the whole; available pods are ready. */
export function checkParts(
  errors: FieldError[],
  path: string,
  counts: Counts,
  { parts, readyName = 'readyReplicas' }: { readonly parts: readonly string[]; readonly readyName?: string },
): void {
  const { replicas } = counts;
  for (const name of parts) {
    const count = counts[name] ?? 0;
    if (count > (replicas ?? 0)) {
      errors.push(invalid(child(path, name), count, 'cannot be greater than status.replicas'));
    }
  }
  const { availableReplicas, readyReplicas } = counts;
  if ((availableReplicas ?? 0) > (readyReplicas ?? 0)) {
    const reason = `cannot be greater than ${readyName}`;
    errors.push(invalid(child(path, 'availableReplicas'), availableReplicas, reason));
  }
}

/** It counts names that were taken already: forgetting it would try them again. */
export function checkCollisions(errors: FieldError[], path: string, counts: Counts, old: Counts): void {
  const [count, before] = [counts['collisionCount'], old['collisionCount']];
  if (isSet(before) && (!isSet(count) || count < before)) {
    errors.push(invalid(child(path, 'collisionCount'), count ?? 0, 'cannot be decremented'));
  }
}
