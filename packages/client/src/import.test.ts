/** The modules that `import '@hangar/client'` loads: they add to the start time of every command line tool. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const listing = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
for (const file of process.argv.slice(1)) await import(file);
console.log(JSON.stringify(loaded.filter((url) => url.startsWith('file:'))));
`;

function modulesOf(...files: string[]): string[] {
  const paths = files.map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', listing, ...paths], { encoding: 'utf8' });
  return JSON.parse(answer) as string[];
}

test('importing the client loads neither the table of kinds nor what validates them', () => {
  const modules = modulesOf('./index.ts');
  const heavy = modules.filter((url) =>
    /\/api\/src\/(builtin|openapi|crd|strategy|protobuf|apply)\/|\/cel\/|js-yaml/.test(url),
  );
  assert.deepEqual(heavy, []);
});

test('importing a built-in kind loads two files', () => {
  const modules = modulesOf('./kinds/core-v1.ts');
  assert.deepEqual(
    modules.map((url) => url.split('/').at(-1)),
    ['core-v1.ts', 'kind.ts'],
  );
});
