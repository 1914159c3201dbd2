/**
 * Programs of this machine for the images of pods: the image `registry.k8s.io/kube-apiserver:v1.36.4` stands for a `kube-apiserver` that
 * reports the version v1.36.4. Searched in this order:
 *
 *     the folders of --hosted-bin-dirs
 *     the folders of PATH
 *     the programs that `hangar tools get` installed, or `npm run tools` made
 */

import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ProcessRuntimeError, programsByName } from '@hangar/process-runtime';
import type { ImageSource } from '@hangar/process-runtime';
import { isExecutable } from '@hangar/programs';

const run = promisify(execFile);
const versionTimeoutMs = 30_000;

/** The programs of a hosted control plane. */
export const componentPrograms = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

const kubernetesPrograms = componentPrograms.filter((name) => name.startsWith('kube-'));

/** Programs with another name than that of their image. */
const otherNames: Readonly<Record<string, string>> = { 'proxy-server': 'konnectivity-server' };

export interface ProgramsOptions {
  /** Searched first. */
  readonly folders: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly homeFolder: string;
}

/** Returns the folder of the programs of `hangar tools get` and `npm run tools`. */
export function toolsFolder({ env, homeFolder }: Pick<ProgramsOptions, 'env' | 'homeFolder'>): string {
  if (env['HANGAR_TOOLS_CACHE']) return resolve(env['HANGAR_TOOLS_CACHE']);
  return join(env['XDG_CACHE_HOME'] || join(homeFolder, '.cache'), 'hangar', 'tools');
}

export class Programs {
  readonly #options: ProgramsOptions;
  /** Versions by path and time of modification. */
  readonly #versions = new Map<string, Promise<string | undefined>>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** Returns the programs of a hosted control plane that this machine does not have. */
  missing(): string[] {
    return componentPrograms.filter((name) => this.#paths(name).length === 0);
  }

  /** Returns all programs in the order of the search. */
  async all(): Promise<{ name: string; version: string; path: string }[]> {
    const found = [...componentPrograms, ...Object.keys(otherNames)].flatMap((name) =>
      this.#paths(name).map((path) => ({ name, path })),
    );
    return Promise.all(found.map(async (one) => ({ ...one, version: (await this.#versionOf(one.path)) ?? 'unknown' })));
  }

  /** Returns the image of the first program with this name. Throws if there is none. */
  async imageOf(name: string): Promise<string> {
    const [path] = this.#paths(name);
    const version = path === undefined ? undefined : await this.#versionOf(path);
    if (version === undefined) throw new Error(`the program ${name} is not available on this machine`);
    return `registry.k8s.io/${name}:${version}`;
  }

  /** Returns the newest version of Kubernetes of which this machine has all programs. Undefined: there is none. */
  async newestVersion(): Promise<string | undefined> {
    const ofAll = await Promise.all(kubernetesPrograms.map((name) => this.#versionsOf(name)));
    const common = ofAll.reduce((known, versions) => known.filter((version) => versions.includes(version)));
    return common.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
  }

  /** Rejects with `ErrImagePull` if the machine has the program, but not with the version of the image. */
  readonly source: ImageSource = async (image, reference) => {
    const { name, tag = '' } = reference;
    const paths = this.#paths(name);
    if (paths.length === 0) return undefined;
    if (!name.startsWith('kube-'))
      return programsByName({ [name]: paths[0]!, ...this.#besides(name) })(image, reference);
    const versions = await Promise.all(paths.map((path) => this.#versionOf(path)));
    const at = versions.indexOf(tag);
    if (at !== -1) return programsByName({ [name]: paths[at]! })(image, reference);
    const found = (await this.#versionsOf(name)).join(', ');
    throw new ProcessRuntimeError(
      'ErrImagePull',
      `the program ${name} of this machine has version ${found || 'unknown'}, but the image needs ${tag}: "hangar tools get ${tag}" installs it`,
    );
  };

  /** The image of etcd has etcdutl, which restores use. */
  #besides(name: string): Record<string, string> {
    const [etcdutl] = name === 'etcd' ? this.#paths('etcdutl') : [];
    return etcdutl === undefined ? {} : { etcdutl };
  }

  async #versionsOf(name: string): Promise<string[]> {
    const versions = await Promise.all(this.#paths(name).map((path) => this.#versionOf(path)));
    return [...new Set(versions.filter((version) => version !== undefined))];
  }

  #paths(name: string): string[] {
    const { folders, env } = this.#options;
    const inPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
    const names = [name, ...(otherNames[name] === undefined ? [] : [otherNames[name]])];
    return [...folders, ...inPath, ...this.#toolFolders()]
      .flatMap((folder) => names.map((file) => join(folder, file)))
      .filter(isExecutable);
  }

  /** `<tools>/<name>/<version>-<os>-<architecture>`, newest versions first. */
  #toolFolders(): string[] {
    const tools = toolsFolder(this.#options);
    const all = foldersIn(tools).flatMap((name) => foldersIn(join(tools, name)).map((version) => ({ name, version })));
    const newestFirst = all.toSorted((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }));
    return newestFirst.map(({ name, version }) => join(tools, name, version));
  }

  #versionOf(path: string): Promise<string | undefined> {
    const key = `${path} ${statSync(path).mtimeMs}`;
    let version = this.#versions.get(key);
    if (!version) {
      version = reportedVersion(path);
      this.#versions.set(key, version);
    }
    return version;
  }
}

/** All components of Kubernetes print `Kubernetes v1.36.4`. Undefined: no version is printed. */
export async function reportedVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: versionTimeoutMs });
    return /\bv?\d+\.\d+\.\d+[^\s]*/.exec(stdout)?.[0].replaceAll('+', '_');
  } catch {
    return undefined;
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
