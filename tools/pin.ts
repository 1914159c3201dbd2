/** Reads the pinned version of a program: the one that go.mod of its set requires, or that of its npm package. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from './catalogue.ts';

/** Returns the version with the leading `v`, or undefined for a program that has neither. */
export async function pinnedVersion(program: Program, setsFolder: string): Promise<string | undefined> {
  if (program.npm) return `v${program.npm.version}`;
  if (!program.go) return undefined;
  const { folder, module } = program.go.set;
  const path = join(setsFolder, folder, 'go.mod');
  const version = requiredVersion(await readFile(path, 'utf8'), module);
  if (version === undefined) throw new Error(`impossible state: ${path} does not require ${module}`);
  return version;
}

export function requiredVersion(goMod: string, module: string): string | undefined {
  for (const line of goMod.split('\n')) {
    // A replacement has `=>` where a requirement has its version.
    const [path, version] = line
      .trim()
      .replace(/^require\s+/, '')
      .split(/\s+/);
    // Go's mark of a release without a go.mod does not belong to the release's name.
    if (path === module && version?.startsWith('v')) return version.replace(/\+incompatible$/, '');
  }
  return undefined;
}
