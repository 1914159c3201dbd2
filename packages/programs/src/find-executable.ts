/** Where a program is, as a shell would find it. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

export interface SearchOptions {
  /** Absent: this process's own. */
  readonly path?: string | undefined;
}

/**
 * The absolute path of an executable file, or undefined. A name with a slash is a path, of which relative ones begin here; any other is
 * looked for in the folders of PATH. Empty folders there, which mean "here" to old shells, are passed over: no program is taken from
 * wherever one happens to stand.
 */
export function findExecutable(
  name: string,
  { path = process.env['PATH'] ?? '' }: SearchOptions = {},
): string | undefined {
  if (name === '') return undefined;
  if (name.includes('/')) return isExecutable(name) ? resolve(name) : undefined;
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    const candidate = resolve(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
