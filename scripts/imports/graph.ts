/** The import graph of the sources, read as text: `import … from '…'`, `export … from '…'`, `import('…')`, workers. */

import { dirname, join } from 'node:path/posix';

export interface Import {
  /** From the repository's root. */
  readonly file: string;
  /** As written. */
  readonly specifier: string;
  /** The imported file from the root; undefined for packages. */
  readonly target: string | undefined;
  /** Erased at run time: cannot make a cycle that matters, but still has a direction. */
  readonly typeOnly: boolean;
}

const statement =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|new URL\('(\.[^']+\.ts)', import\.meta\.url\)/gm;

export function importsOf(file: string, text: string): Import[] {
  return Array.from(text.matchAll(statement), ([, type, from, dynamic, worker]) => {
    const specifier = (from ?? dynamic ?? worker)!;
    const target = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined;
    return { file, specifier, target, typeOnly: type !== undefined };
  });
}

/** Every cycle of run-time imports between files, as the list of its files; each once. */
export function cycles(imports: readonly Import[]): string[][] {
  const edges = new Map<string, string[]>();
  for (const { file, target, typeOnly } of imports) {
    if (target !== undefined && !typeOnly) edges.set(file, [...(edges.get(file) ?? []), target]);
  }
  const found = new Map<string, string[]>();
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) {
      const cycle = path.slice(at);
      found.set([...cycle].sort().join(), cycle);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const next of edges.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of edges.keys()) visit(file);
  return [...found.values()];
}
