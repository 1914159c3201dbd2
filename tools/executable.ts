/** Inspects a file that might be a program. */

import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import type { Program } from './catalogue.ts';
import { parseVersion } from './version.ts';
import type { Version } from './version.ts';
import type { World } from './world.ts';

const versionTimeoutMs = 10_000;

/** Follows symbolic links. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns every executable file of that name on PATH, in PATH's order, absolute, without duplicates. */
export async function onPath(name: string, world: Pick<World, 'env'>): Promise<string[]> {
  const folders = (world.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = new Map<string, string>();
  for (const path of folders.map((folder) => resolve(folder, name))) {
    if (!(await isExecutable(path))) continue;
    const target = await realpath(path);
    if (!found.has(target)) found.set(target, path);
  }
  return [...found.values()];
}

/** Runs the program to print its version; a string is the reason for a failure. */
export async function versionOf(path: string, program: Program, world: World): Promise<Version | string> {
  if (!program.versionArguments) return builtVersion(path, program, world);
  const { stdout, stderr, failure } = await world.run(path, program.versionArguments, {
    timeoutMs: versionTimeoutMs,
    env: world.env,
  });
  if (failure !== undefined) return `does not tell its version: ${failure}`;
  const told = (text: string): Version | undefined => parseVersion(after(program.versionAfter, text));
  return told(stdout) ?? told(stderr) ?? 'does not tell its version: no number in its answer';
}

/** Reads the version of the module of the program's set from the build information that the go command writes into each program. */
async function builtVersion(path: string, program: Program, world: World): Promise<Version | string> {
  const [go] = await onPath('go', world);
  if (go === undefined) return 'has an unknown version: no go on PATH to read its build information';
  const { stdout, failure } = await world.run(go, ['version', '-m', path], {
    timeoutMs: versionTimeoutMs,
    env: world.env,
  });
  if (failure !== undefined) return `has an unknown version: go version -m: ${failure}`;
  for (const line of stdout.split('\n')) {
    const [kind, module, version] = line.trim().split('\t');
    if ((kind === 'dep' || kind === 'mod') && module === program.go?.set.module) {
      return parseVersion(version ?? '') ?? 'has an unknown version: its build information names none';
    }
  }
  return 'has an unknown version: its build information does not name its module';
}

function after(mark: string | undefined, text: string): string {
  return mark !== undefined && text.includes(mark) ? text.slice(text.indexOf(mark) + mark.length) : text;
}
