/** Which tolerations make others superfluous. */

import type { Toleration } from './pod.ts';

/** Both lists as one, without what another one of them covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((one, at) => {
    if (merged.some((other) => covers(other, one))) return;
    // Of equal ones the first stays.
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

/** Does `wide` tolerate all that `one` does? */
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
