/** The programs of a node, and where they are installed. */

import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** `cni-…`: plugins of the Container Network Interface, whose files have the name without the prefix. */
export const programNames = [
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'runc',
  'kubelet',
  'kube-proxy',
  'nft',
  'cni-bridge',
  'cni-host-local',
  'cni-loopback',
  'cni-portmap',
] as const;

export type ProgramName = (typeof programNames)[number];

export interface NodePrograms {
  /** Returns the absolute path. Rejects if the program is not available. */
  path(name: ProgramName): Promise<string>;
}

const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const pluginFolders = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'];

export interface SearchOptions {
  /** Searched before all others. */
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

/** Searches the given folders, PATH, the usual folders of the system, and the cache of `npm run tools`, in this order. */
export class InstalledPrograms implements NodePrograms {
  readonly #options: SearchOptions;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  async path(name: ProgramName): Promise<string> {
    const found = await this.find(name);
    if (found === undefined) throw new Error(`the program ${executableOf(name)} is not installed`);
    return found;
  }

  /** Returns undefined if the program is not in any of the folders. */
  async find(name: ProgramName): Promise<string | undefined> {
    const { folders } = this.#options;
    const installed = isPlugin(name) ? pluginFolders : [...this.#pathFolders(), ...systemFolders];
    for (const folder of [...folders, ...installed, ...(await this.#cacheFolders(name))]) {
      const path = resolve(folder, executableOf(name));
      if (await isExecutable(path)) return path;
    }
    return undefined;
  }

  #pathFolders(): string[] {
    return (this.#options.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  }

  /** `<cache>/runc/v1.3.3-linux-amd64`, the newest version first. */
  async #cacheFolders(name: ProgramName): Promise<string[]> {
    const { env, homeFolder } = this.#options;
    const cache =
      env['HANGAR_TOOLS_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homeFolder, '.cache'), 'hangar/tools');
    const versions = await readdir(join(cache, name)).catch(() => []);
    const ordered = versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    return ordered.map((version) => join(cache, name, version));
  }
}

const isPlugin = (name: ProgramName): boolean => name.startsWith('cni-');

/** Returns the name of the file. */
export const executableOf = (name: ProgramName): string => name.replace(/^cni-/, '');

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
