/** Puts together the package `hangar`: the programs, with every package that they load in node_modules, so that one tarball is enough. */

import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hangarManifest } from './manifest.ts';
import { root } from './packages.ts';
import type { Manifest } from './packages.ts';
import { stagedFolder } from './stage.ts';

const programs = ['@hangar/cli', '@hangar/controller-manager', '@hangar/hosted-operator-program', '@hangar/platform'];

/** Declarations, source maps and sources of dependencies: no program loads them. */
const isLoaded = (path: string): boolean => !/\.(?:ts|mts|cts|map)$/.test(path);

/** Returns the staged folder. Requires the staged folders of all other packages. */
export function stageHangar(): string {
  const staged = join(stagedFolder, 'hangar');
  rmSync(staged, { recursive: true, force: true });
  cpSync(join(root, 'bin'), join(staged, 'bin'), { recursive: true, filter: (path) => !path.endsWith('.md') });
  const bundled: Record<string, string> = {};
  for (const name of withDependencies(programs)) {
    bundled[name] = manifestIn(folderOf(name)).version;
    cpSync(folderOf(name), join(staged, 'node_modules', name), { recursive: true, filter: isLoaded });
  }
  const manifest = hangarManifest(manifestIn(root) as Parameters<typeof hangarManifest>[0], bundled);
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  copyFileSync(join(root, 'bin/README.md'), join(staged, 'README.md'));
  return staged;
}

/** Returns the names and everything that they depend on, sorted. */
function withDependencies(names: readonly string[]): string[] {
  const found = new Set(names);
  for (const name of found) {
    for (const dependency of Object.keys(manifestIn(folderOf(name)).dependencies ?? {})) found.add(dependency);
  }
  return [...found].sort();
}

const folderOf = (name: string): string =>
  name.startsWith('@hangar/') ? join(stagedFolder, name) : join(root, 'node_modules', name);

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
