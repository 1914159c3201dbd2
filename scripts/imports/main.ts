/** Checks the direction of imports, deep imports and cycles over the whole repository. */

import { globSync, readFileSync } from 'node:fs';
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
  for (const entry of Object.keys(exports)) publicEntries.add(name + entry.slice(1));
}

const problems = violations(imports, publicEntries);
for (const problem of problems) console.error(problem);
console.log(`${imports.length} imports in ${files.length} files, ${problems.length} against the rules`);
process.exitCode = problems.length > 0 ? 1 : 0;
