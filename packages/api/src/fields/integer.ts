/** Returns whether a JSON value is an integer that Go's type can hold. */
export function isInteger(value: unknown, kind: 'int32' | 'int64'): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  const max = kind === 'int32' ? 2 ** 31 : 2 ** 63;
  // A JavaScript number cannot hold 2^63-1: JSON.parse rounds it to 2^63.
  return value >= -max && (kind === 'int32' ? value < max : value <= max);
}
