/** Entry for tests and benchmarks: `await tool('etcd')` is the path of a real etcd. */

import { catalogue } from './catalogue.ts';
import type { ToolName } from './catalogue.ts';
import { find } from './find.ts';
import { systemWorld } from './world.ts';

export type { ToolName } from './catalogue.ts';
export { ToolUnavailable } from './errors.ts';

export interface ToolOptions {
  /** Receives progress, which can take minutes when something has to be built. Absent: silence. */
  log?(line: string): void;
}

const found = new Map<ToolName, Promise<string>>();

/**
 * Returns the absolute path of the executable, made first if necessary. A process searches once for each program; a failed search is not
 * cached. Throws an error with code `ToolUnavailable` whose message lists each step and its reason.
 */
export async function tool(name: ToolName, options: ToolOptions = {}): Promise<string> {
  const log = options.log ?? (() => {});
  let search = found.get(name);
  if (!search) {
    search = find(catalogue[name], systemWorld(log)).then(({ path }) => path);
    found.set(name, search);
    search.catch(() => found.delete(name));
  }
  return search;
}
