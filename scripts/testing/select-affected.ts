/**
 * Selects the test files that a set of changed files affects.
 *
 * The unit of change is an area: a package, an app, an operator, an example, a folder of `tests`, or another top-level folder. A test
 * file depends on its own area and on the area of every file that it reaches by imports. Test code also depends on the paths that it
 * names (`new URL('../../bin/hangar.js', …)`, `'deploy/manifests'`): it starts those programs and reads those files.
 * Example: a change of packages/store/src/keys.ts affects all tests of packages/store, and tests/platform, which starts
 * bin/hangar.js, which imports apps/platform, which imports packages/store.
 */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { importsOf } from '../imports/graph.ts';
import { isTestCode } from '../imports/rules.ts';
import { publicEntries, sourceFiles } from '../imports/sources.ts';

/** Files at the root and folders that every test depends on. */
const everything = /^(package(-lock)?\.json|tsconfig\.json|\.npmrc|\.ci\/.*|scripts\/(test\.ts|testing\/.*))$/;

export interface Selection {
  readonly tests: readonly string[];
  readonly changed: readonly string[];
  /** See `readDependencies`. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
}

export function selectAffected({ tests, changed, dependencies }: Selection): string[] {
  if (changed.some((file) => everything.test(file))) return [...tests];
  const changedAreas = new Set(changed.map(areaOf));
  const users = usersOf(dependencies);
  const affected = new Set([...tests, ...users.keys()].filter((file) => changedAreas.has(areaOf(file))));
  for (const file of affected) for (const user of users.get(file) ?? []) affected.add(user);
  return tests.filter((test) => affected.has(test));
}

/** Returns the files that depend on each file and on each folder. */
function usersOf(dependencies: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const users = new Map<string, string[]>();
  const add = (file: string, user: string): void => {
    const known = users.get(file);
    if (known) known.push(user);
    else users.set(file, [user]);
  };
  for (const [user, files] of dependencies) for (const file of files) add(file, user);
  // A folder that test code names stands for the sources in it, without the tests of these sources.
  const folders = [...users.keys()].filter((name) => !/\.\w+$/.test(name) && (name.includes('/') || name === 'bin'));
  const sources = [...dependencies.keys()].filter((file) => !/\.(test|real)\.ts$/.test(file));
  for (const folder of folders) for (const file of sources) if (file.startsWith(`${folder}/`)) add(file, folder);
  return users;
}

function areaOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  const hasAreas = ['packages', 'apps', 'operators', 'services', 'examples', 'tests', 'scripts'].includes(first);
  return hasAreas ? `${first}/${second}` : first;
}

/** Returns the imports of every source, and the paths in the repository that test code names. */
export function readDependencies(root: string): Map<string, string[]> {
  const entries = publicEntries(root);
  const files = [...sourceFiles(root), ...globSync('{bin,packages/*/bin}/*.js', { cwd: root })];
  return new Map(
    files.map((file) => {
      const text = readFileSync(root + file, 'utf8');
      const imported = importsOf(file, text).map(({ specifier, target }) => target ?? entries.get(specifier));
      const named = isTestCode(file) || file.startsWith('tests/') ? namedPaths(root, file, text) : [];
      return [file, [...imported, ...named].filter((one) => one !== undefined)];
    }),
  );
}

const quoted = /['"`]([^'"`\s$]+)/g;

/** Returns the quoted texts that are paths in the repository, relative to the file or to the root. */
function namedPaths(root: string, file: string, text: string): string[] {
  return Array.from(text.matchAll(quoted), ([, path = '']) => (path.startsWith('.') ? join(dirname(file), path) : path))
    .map((path) => path.replace(/\/?[*{].*$/, ''))
    .filter((path) => path !== '' && !path.startsWith('/') && !path.startsWith('..') && existsSync(root + path));
}
