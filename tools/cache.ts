/**
 * The layout of the cache and the only way into it:
 *
 *     <cache>/etcd/v3.6.16-linux-amd64/etcd
 *     <cache>/kubectl-1.32/v1.32.13-linux-amd64/kubectl
 *     <cache>/kubernetes.lock
 *
 * A program appears there complete and checked, by a rename, or not at all.
 */

import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Program } from './catalogue.ts';
import { versionOf } from './executable.ts';
import { formatVersion } from './version.ts';
import type { World } from './world.ts';

export function cachedPath(program: Program, version: string, world: World): string {
  const { os, arch } = world.platform;
  return join(world.cacheFolder, program.name, `${version}-${os}-${arch}`, program.executable);
}

/**
 * Lets `make` write the program to the path it is given (or return why it cannot), checks that it runs here and has
 * the version, and moves it into its place, with other files of its folder. Returns the place, or the reason. The caller holds the program's lock.
 */
export async function place(
  program: Program,
  version: string,
  world: World,
  make: (partial: string) => Promise<string | undefined>,
): Promise<{ path: string } | { reason: string }> {
  const path = cachedPath(program, version, world);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  await removePartials(folder);
  // A folder, so that the program has its own name: busybox runs the applet of the name that it is started by.
  const partialFolder = join(folder, `${partialPrefix}${process.pid}`);
  await mkdir(partialFolder);
  const partial = join(partialFolder, basename(path));
  try {
    const reason = (await make(partial)) ?? (await check(partial, program, version, world));
    if (reason !== undefined) return { reason };
    await moveCompanions(partialFolder, path);
    await rename(partial, path);
    return { path };
  } finally {
    await rm(partialFolder, { recursive: true, force: true });
  }
}

const partialPrefix = '.partial.';

/** Removes partial files of an interrupted run. */
async function removePartials(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(partialPrefix)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Moves the files that `make` wrote beside the program. */
async function moveCompanions(from: string, path: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name === basename(path)) continue;
    const place = join(dirname(path), name);
    await rm(place, { recursive: true, force: true });
    await rename(join(from, name), place);
  }
}

async function check(partial: string, program: Program, version: string, world: World): Promise<string | undefined> {
  await chmod(partial, 0o755);
  const actual = await versionOf(partial, program, world);
  if (typeof actual === 'string') return `what it gave ${actual}`;
  if (formatVersion(actual) !== version) return `what it gave is ${formatVersion(actual)} instead of ${version}`;
  return undefined;
}
