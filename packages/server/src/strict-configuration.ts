/**
 * Parses configuration files as strictly as kube-apiserver: a misspelt or repeated field would otherwise silently drop a check, a key or a
 * rule.
 */

import { child, parseYaml } from '@hangar/api';

/** Parses YAML or JSON. Throws the error that `fault` returns for the reason. */
export function parseStrictly(text: Uint8Array | string, fault: (reason: string) => Error): unknown {
  let parsed;
  try {
    parsed = parseYaml(text, { findRepeated: true });
  } catch (error) {
    throw fault((error as Error).message);
  }
  if (parsed.problems.length > 0) throw fault(parsed.problems.join(', '));
  return parsed.value;
}

/** Returns paths only, without values: those may be secrets. */
export const unknownFields = (path: string, value: object, known: readonly string[]): string[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => child(path, name));
