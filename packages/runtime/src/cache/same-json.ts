/**
 * Whether two decoded objects say the same. A field that is undefined is absent; the order of fields does not matter. Two that are
 * both too deep for the stack are taken for different: who asks then does once too often what it does for a change.
 */
export function sameJson(one: unknown, other: unknown): boolean {
  try {
    return same(one, other);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one)) return Array.isArray(other) && sameItems(one, other);
  return !Array.isArray(other) && sameFields(one as Fields, other as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (!same(one[at], other[at])) return false;
  return true;
}

function sameFields(one: Fields, other: Fields): boolean {
  let count = 0;
  for (const name in one) {
    if (one[name] === undefined) continue;
    count++;
    if (!Object.hasOwn(other, name) || !same(one[name], other[name])) return false;
  }
  for (const name in other) if (other[name] !== undefined) count--;
  return count === 0;
}
