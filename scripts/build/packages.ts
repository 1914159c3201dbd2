/** Lists the packages that `npm run build` makes, and the entry points that they publish. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface SourcePackage {
  /** Relative to the root of the repository: `packages/client`. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Each library has a tarball. The others are only part of the package `hangar`. */
  readonly isLibrary: boolean;
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** Returns all packages of the repository except examples, sorted by folder. */
export function sourcePackages(): SourcePackage[] {
  return globSync('{packages,operators,services,apps}/*/package.json', { cwd: root })
    .map((file) => dirname(file))
    .sort()
    .map((folder) => ({ folder, manifest: readManifest(folder), isLibrary: folder.startsWith('packages/') }));
}

/** Entry points for the tests of this repository. They are not published. */
const isTestEntry = (name: string): boolean => /\/(?:testing|conformance)$/.test(name);

/** Returns the published entry points of a package with their source files: `./kinds/*` → `./src/kinds/*.ts`. */
export const publishedEntries = ({ exports = {} }: Manifest): [name: string, source: string][] =>
  Object.entries(exports).filter(([name]) => !isTestEntry(name));
