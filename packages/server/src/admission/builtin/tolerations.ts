/** Merges tolerations and drops redundant ones. */

import type { Toleration } from './pod.ts';

/** Returns both lists as one, without tolerations that another one covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((one, at) => {
    if (merged.some((other) => covers(other, one))) return;
    // Of equal tolerations the first is kept.
    if (all.slice(at + 1).some((other) => !isSame(other, one) && covers(other, one))) return;
    merged.push(one);
  });
  return merged;
}

const isSame = (a: Toleration, b: Toleration): boolean =>
  (a.key ?? '') === (b.key ?? '') &&
  (a.operator ?? '') === (b.operator ?? '') &&
  (a.value ?? '') === (b.value ?? '') &&
  (a.effect ?? '') === (b.effect ?? '') &&
  (a.tolerationSeconds ?? undefined) === (b.tolerationSeconds ?? undefined);

/** Reports whether `wide` tolerates everything that `one` tolerates. */
export function covers(wide: Toleration, one: Toleration): boolean {
  if (isSame(wide, one)) return true;
  const isForAllKeys = !wide.key && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (one.key ?? '') && !isForAllKeys) return false;
  if (wide.effect && wide.effect !== (one.effect ?? '')) return false;
  if (wide.effect === 'NoExecute' && typeof wide.tolerationSeconds === 'number') {
    if (typeof one.tolerationSeconds !== 'number' || one.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  const isEqual = !wide.operator || wide.operator === 'Equal';
  return isEqual && one.operator === 'Equal' && (one.value ?? '') === (wide.value ?? '');
}
