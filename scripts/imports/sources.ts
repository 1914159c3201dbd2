/** Reads the sources of the repository and resolves their imports. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** The sources of the product, its tests and its tools, relative to the root. */
export function sourceFiles(root: string): string[] {
  return globSync('{packages,operators,services,apps,examples,bench,scripts,tests,tools}/**/*.ts', {
    cwd: root,
  }).filter((file) => !file.includes('node_modules'));
}

/** Returns every public entry of the packages (`@hangar/core`, `@hangar/client/kinds/core-v1`) with the file behind it. */
export function publicEntries(root: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const manifest of globSync('{packages,operators,services,apps}/*/package.json', { cwd: root })) {
    const { name, exports = {} } = JSON.parse(readFileSync(root + manifest, 'utf8')) as {
      name: string;
      exports?: Record<string, string>;
    };
    for (const [entry, target] of Object.entries(exports)) {
      for (const [found, file] of expanded(root, entry, join(dirname(manifest), target)))
        entries.set(name + found.slice(1), file);
    }
  }
  return entries;
}

/** `./kinds/*` stands for every file that its target matches. */
function expanded(root: string, entry: string, target: string): [entry: string, file: string][] {
  if (!entry.includes('*')) return [[entry, target]];
  const [before = '', after = ''] = target.split('*');
  return globSync(`${before}**/*${after}`, { cwd: root })
    .filter((file) => !/\.(test|real)\.ts$/.test(file))
    .map((file) => [entry.replace('*', file.slice(before.length, -after.length)), file]);
}
