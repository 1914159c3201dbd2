import type { Entry } from '../contract.ts';
import { compareKeys } from '../keys.ts';

/** Two lists in key order, without common keys, as one. */
export function merged(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  if (b.length === 0) return [...a];
  const all: Entry[] = [];
  let next = 0;
  for (const entry of a) {
    while (next < b.length && compareKeys(b[next]!.key, entry.key) < 0) all.push(b[next++]!);
    all.push(entry);
  }
  return all.concat(b.slice(next));
}
