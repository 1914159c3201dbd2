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
  const { stdout, stderr, failure } = await world.run(path, program.versionArguments, {
    timeoutMs: versionTimeoutMs,
    env: world.env,
  });
  if (failure !== undefined) return `does not tell its version: ${failure}`;
  const told = (text: string): Version | undefined => parseVersion(after(program.versionAfter, text));
  return told(stdout) ?? told(stderr) ?? 'does not tell its version: no number in its answer';
}

function after(mark: string | undefined, text: string): string {
  return mark !== undefined && text.includes(mark) ? text.slice(text.indexOf(mark) + mark.length) : text;
}
