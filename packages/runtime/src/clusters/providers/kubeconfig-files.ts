/**
 * Provider of clusters from kubeconfig files: one file or the files of a folder. Changes are detected by events of the folder, also when a
 * mounted secret is swapped behind its links. Because events can be lost, everything is also scanned periodically.
 *
 *   names   one file: the context. Folder: the file without its extension, and `+context` unless only the current context is used
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { parseYaml } from '@hangar/api/yaml';
import { asError, systemClock } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { ClusterName } from '../../cluster.ts';
import type { Provider } from '../contract.ts';
import { Announcements } from './announcements.ts';
import { FolderChanges } from '../../folder-changes.ts';
import type { WatchedFolder } from '../../folder-changes.ts';
import { foundByKubeconfig } from './kubeconfig.ts';
import type { ClusterOptions } from './open-cluster.ts';

/** Options of `kubeconfigFiles`. */
export interface KubeconfigFilesOptions {
  /** A file or a folder. It may be created later. */
  readonly path: string;
  /** Contexts that become clusters. Absent: the current context of each file. */
  readonly contexts?: 'current' | 'all' | readonly string[];
  /** Allows credential plugins and references to other files, as kubectl does. Absent: true. */
  readonly isTrusted?: boolean;
  /** Time between two scans. Absent: 1 minute. */
  readonly rescanMs?: number;
  readonly clusterOptions?: ClusterOptions;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** A folder with more files is rejected. */
const filesMax = 10_000;
const fileBytesMax = 4 * 1024 * 1024;

/** Returns a provider of the clusters of kubeconfig files. */
export const kubeconfigFiles = (options: KubeconfigFilesOptions): Provider => ({
  name: 'kubeconfig-files',
  async run(discovery, signal) {
    const { rescanMs = 60_000, clock = systemClock, log } = options;
    const path = resolve(options.path);
    const announcements = new Announcements(discovery);
    let isFirst = true;
    while (!signal.aborted) {
      // Created before the read, so that a change during the read wakes the next wait.
      const changes = new FolderChanges(await foldersOf(path), { clock, rescanMs, signal });
      try {
        await scan(path, options, announcements);
        if (isFirst) discovery.synced();
        isFirst = false;
      } catch (error) {
        log?.warn('failed to read kubeconfigs, keeping the known clusters', { path, error: asError(error) });
      }
      await changes.next();
    }
  },
});

/** Returns the path, if it is a folder, and its parent folder, in which the path is created, deleted and swapped. */
async function foldersOf(path: string): Promise<WatchedFolder[]> {
  const found = await stat(path).catch(() => undefined);
  const own = basename(path);
  // Files of a mounted secret are links into `..data`, which is swapped.
  const parent = { folder: dirname(path), isRelevant: (entry: string) => entry === own || entry.startsWith('..') };
  return found?.isDirectory() ? [{ folder: path, isRelevant: () => true }, parent] : [parent];
}

async function scan(path: string, options: KubeconfigFilesOptions, announcements: Announcements): Promise<void> {
  const { contexts = 'current', isTrusted = true, clusterOptions = {} } = options;
  const trust = { allowExec: isTrusted, allowFiles: isTrusted };
  const { files, isFolder } = await filesOf(path);
  const names = new Set<ClusterName>();
  for (const [file, kubeconfig] of files) {
    const bare = basename(file, extname(file));
    for (const context of wantedContexts(kubeconfig, contexts)) {
      const name = isFolder ? (contexts === 'current' ? bare : `${bare}+${context}`) : (context ?? bare);
      if (names.has(name)) continue;
      names.add(name);
      const given = { name, kubeconfig, identity: file, source: file };
      const options = { ...trust, baseFolder: dirname(file), context };
      announcements.tellWhenFound(name, foundByKubeconfig({ ...given, trust: options }, clusterOptions));
    }
  }
  await announcements.settled();
  announcements.retain(names);
}

/** Returns contents by path, sorted by name; none when the path does not exist. Rejects when they cannot be read. */
async function filesOf(path: string): Promise<{ files: Map<string, string>; isFolder: boolean }> {
  const files = new Map<string, string>();
  const found = await stat(path).catch(whenAbsent);
  const isFolder = found?.isDirectory() ?? false;
  const entries = isFolder
    ? (await readdir(path))
        .sort()
        .slice(0, filesMax)
        .map((entry) => join(path, entry))
    : [path];
  for (const entry of found ? entries : []) {
    // Mounted secrets use hidden files for the swap.
    if (isFolder && basename(entry).startsWith('.')) continue;
    const about = await stat(entry).catch(whenAbsent);
    if (!about?.isFile() || about.size > fileBytesMax) continue;
    const text = await readFile(entry, 'utf8').catch(whenAbsent);
    if (text !== undefined) files.set(entry, text);
  }
  return { files, isFolder };
}

function whenAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

/** Returns undefined for the current context. Accepts a malformed kubeconfig, which is detected and reported later. */
function wantedContexts(
  kubeconfig: string,
  wanted: NonNullable<KubeconfigFilesOptions['contexts']>,
): readonly (string | undefined)[] {
  try {
    const { contexts, 'current-context': current } = (parseYaml(kubeconfig).value ?? {}) as {
      contexts?: readonly { name?: unknown }[];
      'current-context'?: unknown;
    };
    if (wanted === 'current') return [typeof current === 'string' && current !== '' ? current : undefined];
    const names = (contexts ?? []).map(({ name }) => name).filter((name) => typeof name === 'string');
    return wanted === 'all' ? names : names.filter((name) => wanted.includes(name));
  } catch {
    return [undefined];
  }
}
