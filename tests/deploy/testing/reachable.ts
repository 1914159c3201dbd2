/** Every file of the repository that a program may read as code: what it imports, at once or later, and the workers it starts. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './files.ts';

const references = [
  /(?:^|\n)(?:import|export) (?!type )(?:[^'"\n;]*?|\{[^}]*\}) ?(?:from )?'([^']+)'/g,
  /\b(?:import|require)\(\s*'([^']+)'/g,
  /new URL\('([^']+\.[jt]s)', import\.meta\.url\)/g,
];

/** Paths below the repository, the given one included. */
export function reachableFrom(entry: string): Set<string> {
  const found = new Set([entry]);
  for (const path of found) {
    const text = readFileSync(join(root, path), 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    for (const pattern of references) {
      for (const [, named] of text.matchAll(pattern)) {
        const target = named!.startsWith('.')
          ? new URL(named!, `file:///${path}`).pathname.slice(1)
          : named!.startsWith('@hangar/')
            ? exportOf(named!)
            : undefined;
        if (target !== undefined && /\.[jt]s$/.test(target)) found.add(target);
      }
    }
  }
  return found;
}

interface Package {
  readonly folder: string;
  readonly exports: Readonly<Record<string, string>>;
}

const packages = new Map(
  globSync('{packages,operators,services,apps}/*/package.json', { cwd: root }).map((file): [string, Package] => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), 'utf8'));
    return [name, { folder: dirname(file), exports }];
  }),
);

function exportOf(specifier: string): string {
  const [scope, own, ...rest] = specifier.split('/');
  const found = packages.get(`${scope}/${own}`);
  if (!found) throw new Error(`${specifier}: no such package`);
  const wanted = ['.', ...rest].join('/');
  for (const [pattern, target] of Object.entries(found.exports)) {
    if (pattern === wanted) return join(found.folder, target);
    const [before, after] = pattern.split('*');
    if (after === undefined || !wanted.startsWith(before!) || !wanted.endsWith(after)) continue;
    return join(found.folder, target.replaceAll('*', wanted.slice(before!.length, wanted.length - after.length)));
  }
  throw new Error(`${specifier}: not exported`);
}
