/** The environment of the steps as one value, so that tests need no network, no Go and no root. */

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { platformOf } from './platform.ts';
import type { Platform } from './platform.ts';
import { run } from './run.ts';
import type { Run } from './run.ts';

export interface World {
  env: Record<string, string | undefined>;
  platform: Platform;
  isRoot: boolean;
  /** Contains everything that is made or fetched. */
  cacheFolder: string;
  /** The committed go.mod files; never written to. */
  setsFolder: string;
  run: Run;
  fetch: typeof fetch;
  /** Progress for the user; results are returned, not logged. */
  log(line: string): void;
}

export function systemWorld(log: (line: string) => void): World {
  return {
    env: process.env,
    platform: platformOf(process.platform, process.arch),
    isRoot: process.getuid?.() === 0,
    cacheFolder: cacheFolderOf(process.env, homedir()),
    setsFolder: join(import.meta.dirname, 'sets'),
    run,
    fetch,
    log,
  };
}

/** An empty variable counts as unset, as the XDG base directory specification requires. */
export function cacheFolderOf(env: Record<string, string | undefined>, home: string): string {
  if (env['HANGAR_TOOLS_CACHE']) return resolve(env['HANGAR_TOOLS_CACHE']);
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'hangar', 'tools');
}
