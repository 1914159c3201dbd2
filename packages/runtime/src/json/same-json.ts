/** Reports whether two decoded objects are equal. An undefined field counts as absent; the order of fields does not matter. */
export function sameJson(one: unknown, other: unknown): boolean {
  try {
    return same(one, other);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return sameDeep(one, other);
  }
}

/** Compares two parts; may defer the comparison by recording them. */
type Compare = (one: unknown, other: unknown) => boolean;

function same(one: unknown, other: unknown): boolean {
  return one === other || samePartly(one, other, same);
}

/** Slower, and not recursive. */
function sameDeep(one: unknown, other: unknown): boolean {
  const left: [unknown, unknown][] = [[one, other]];
  const later: Compare = (part, its) => part === its || left.push([part, its]) > 0;
  for (let next = left.pop(); next; next = left.pop()) if (!samePartly(...next, later)) return false;
  return true;
}

function samePartly(one: unknown, other: unknown, isSame: Compare): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one)) return Array.isArray(other) && sameItems(one, other, isSame);
  return !Array.isArray(other) && sameFields(one as Fields, other as Fields, isSame);
}

type Fields = Readonly<Record<string, unknown>>;

function sameItems(one: readonly unknown[], other: readonly unknown[], isSame: Compare): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (!isSame(one[at], other[at])) return false;
  return true;
}

function sameFields(one: Fields, other: Fields, isSame: Compare): boolean {
  let count = 0;
  for (const name in one) {
    if (one[name] === undefined) continue;
    count++;
    if (!Object.hasOwn(other, name) || !isSame(one[name], other[name])) return false;
  }
  for (const name in other) if (other[name] !== undefined) count--;
  return count === 0;
}
