/** Checks the direction of imports, deep imports and cycles over the whole repository. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { importsOf } from './graph.ts';
import { violations } from './violations.ts';

const root = new URL('../..', import.meta.url).pathname;
const files = globSync('{packages,operators,apps,examples,bench,scripts,tests,tools}/**/*.ts', { cwd: root }).filter(
  (file) => !file.includes('node_modules'),
);
const imports = files.flatMap((file) => importsOf(file, readFileSync(root + file, 'utf8')));

const publicEntries = new Set<string>();
for (const manifest of globSync('{packages,operators,apps}/*/package.json', { cwd: root })) {
  const { name, exports = {} } = JSON.parse(readFileSync(root + manifest, 'utf8')) as {
    name: string;
    exports?: Record<string, string>;
  };
  for (const [entry, target] of Object.entries(exports)) {
    for (const found of expanded(entry, target, dirname(manifest))) publicEntries.add(name + found.slice(1));
  }
}

/** `./kinds/*` stands for every file that its target does. */
function expanded(entry: string, target: string, folder: string): string[] {
  if (!entry.includes('*')) return [entry];
  const [before = '', after = ''] = join(folder, target).split('*');
  return globSync(`${before}**/*${after}`, { cwd: root })
    .filter((file) => !/\.(test|real)\.ts$/.test(file))
    .map((file) => entry.replace('*', file.slice(before.length, -after.length)));
}

const problems = violations(imports, publicEntries);
for (const problem of problems) console.error(problem);
console.log(`${imports.length} imports in ${files.length} files, ${problems.length} against the rules`);
process.exitCode = problems.length > 0 ? 1 : 0;
