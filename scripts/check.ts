/** `npm run check [-- NAME …]`: format, lint, types, import direction, prose. Runs all of them, or the named ones, then lists those that failed. */

import { spawnSync } from 'node:child_process';

const checks: [name: string, command: string, ...args: string[]][] = [
  ['format', 'oxfmt', '--check', '.'],
  ['lint', 'oxlint', '--deny-warnings'],
  ['types', 'tsc', '-p', '.'],
  ['imports', process.execPath, 'scripts/imports/main.ts'],
  ['prose', process.execPath, 'scripts/prose/main.ts', '--check'],
];

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !checks.some(([known]) => known === name));
if (unknown !== undefined) {
  console.error(`unknown check "${unknown}": the checks are ${checks.map(([name]) => name).join(', ')}`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, command, ...args] of checks) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const startedMs = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit', cwd: new URL('..', import.meta.url) });
  console.log(`${status === 0 ? '✔' : '✖'} ${name}  ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'clean' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
