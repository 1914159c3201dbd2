/**
 * Configuration files, read as strictly as kube-apiserver reads them: a field that is misspelt or there twice would else
 * silently drop the check, the key or the rule that its author believes in.
 */

import { child, parseYaml } from '@hangar/api';

/** From YAML or JSON. Throws what `fault` makes of the reason. */
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

/** Their paths, without their values: those may be secrets. */
export const unknownFields = (path: string, value: object, known: readonly string[]): string[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => child(path, name));
