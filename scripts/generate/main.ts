/**
 * `npm run generate`: writes the table of the built-in kinds from the pinned Kubernetes release.
 * `npm run generate -- --check`: says whether the committed table is what would be written.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { sources } from './modules.ts';
import { generateTable } from './table.ts';

const file = new URL('../../packages/api/src/builtin/table.json', import.meta.url);
const options = process.argv.slice(2);
if (options.some((option) => option !== '--check')) {
  console.error('usage: npm run generate [-- --check]');
  process.exit(2);
}

const table = await generateTable(await sources());
if (options.includes('--check')) {
  const committed = await readFile(file, 'utf8').catch(() => '');
  const same = committed === table;
  console.log(same ? 'the table is up to date' : 'the table is not what npm run generate writes: run it');
  process.exitCode = same ? 0 : 1;
} else {
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, table);
  console.log(`${(table.length / 1024).toFixed(0)} KiB`);
}
