/** The order in which Go writes maps: that of the keys' UTF-8 bytes. */

const surrogate = /[\ud800-\udfff]/;

/** Sorts in place. JavaScript sorts UTF-16, which differs only where a key has surrogates. */
export function sortKeys(keys: string[]): string[] {
  if (isSorted(keys)) return keys;
  keys.sort();
  if (keys.some((key) => surrogate.test(key))) keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return keys;
}

/** Most maps come sorted. */
function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) {
    if (keys[i - 1]! > keys[i]! || surrogate.test(keys[i - 1]!)) return false;
  }
  return true;
}
