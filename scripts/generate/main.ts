/**
 * `npm run generate`: writes the table of the built-in kinds from the pinned Kubernetes release, and from the table the
 * types that clients have for them.
 * `npm run generate -- kinds`: only the types, from the committed table; needs nothing but the repository.
 * `npm run generate -- --check`: says whether the committed files are what would be written.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Table } from '../../packages/api/src/builtin/table.ts';
import { kindsProblems, writeKinds } from './kinds/files.ts';
import { sources } from './modules.ts';
import { generateTable } from './table.ts';

const file = new URL('../../packages/api/src/builtin/table.json', import.meta.url);
const options = process.argv.slice(2);
if (options.some((option) => !['--check', 'kinds'].includes(option))) {
  console.error('usage: npm run generate [-- [kinds] [--check]]');
  process.exit(2);
}

const committed = await readFile(file, 'utf8').catch(() => '');
const text = options.includes('kinds') ? committed : await generateTable(await sources());
const table = JSON.parse(text) as Table;
if (options.includes('--check')) {
  const problems = await kindsProblems(table);
  if (committed !== text) problems.unshift('the table is not what npm run generate writes: run it');
  console.log(problems.length === 0 ? 'everything is up to date' : problems.join('\n'));
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
  console.log(`table: ${(text.length / 1024).toFixed(0)} KiB`);
  console.log(`types: ${await writeKinds(table)} files`);
}
