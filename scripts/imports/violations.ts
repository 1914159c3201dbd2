/** Describes the violations of a set of imports. */

import { cycles } from './graph.ts';
import type { Import } from './graph.ts';
import { allowed, isTestCode, observers, testkit, toolsFolder } from './rules.ts';

export function violations(imports: readonly Import[], publicEntries: ReadonlySet<string>): string[] {
  const problems = imports.flatMap((one) => problemOf(one, publicEntries) ?? []);
  for (const cycle of cycles(imports)) problems.push(`cycle: ${[...cycle, cycle[0]].join(' → ')}`);
  return problems;
}

function problemOf({ file, specifier, target }: Import, publicEntries: ReadonlySet<string>): string | undefined {
  const from = packageOf(file);
  if (target !== undefined) {
    const to = packageOf(target);
    if (to === from || observers.includes(from)) return undefined;
    if (to === toolsFolder && isTestCode(file)) return undefined;
    return `${file}: '${specifier}' reaches into ${to}: import the package by its name`;
  }
  const [, name] = /^@hangar\/([^/]+)/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  if (!publicEntries.has(specifier)) return `${file}: '${specifier}' is not an entry of that package`;
  if (name === testkit && isTestCode(file)) return undefined;
  const may = allowed[from];
  if (observers.includes(from) || may?.includes('*') || may?.includes(name)) return undefined;
  return may ? `${file}: ${from} must not know ${name}` : `${file}: ${from} has no line in scripts/imports/rules.ts`;
}

function packageOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  return ['packages', 'apps', 'operators', 'services'].includes(first) ? `${first}/${second}` : first;
}
