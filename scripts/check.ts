/** `npm run check`: format, lint, types, import direction. Runs all of them, then says which failed. */

import { spawnSync } from 'node:child_process';

const checks: [name: string, command: string, ...args: string[]][] = [
  ['format', 'oxfmt', '--check', '.'],
  ['lint', 'oxlint', '--deny-warnings'],
  ['types', 'tsc', '-p', '.'],
  ['imports', process.execPath, 'scripts/imports/main.ts'],
];

const failed: string[] = [];
for (const [name, command, ...args] of checks) {
  const startedMs = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit', cwd: new URL('..', import.meta.url) });
  console.log(`${status === 0 ? '✔' : '✖'} ${name}  ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'clean' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
