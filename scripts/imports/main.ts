/** Checks the direction of imports, deep imports and cycles over the whole repository. */

import { readFileSync } from 'node:fs';
import { importsOf } from './graph.ts';
import { publicEntries, sourceFiles } from './sources.ts';
import { violations } from './violations.ts';

const root = new URL('../..', import.meta.url).pathname;
const files = sourceFiles(root);
const imports = files.flatMap((file) => importsOf(file, readFileSync(root + file, 'utf8')));

const problems = violations(imports, new Set(publicEntries(root).keys()));
for (const problem of problems) console.error(problem);
console.log(`${imports.length} imports in ${files.length} files, ${problems.length} against the rules`);
process.exitCode = problems.length > 0 ? 1 : 0;
