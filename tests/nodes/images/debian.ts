/**
 * Files of Debian packages, with those of all packages that they depend on, for images whose programs need libraries. Nothing is installed,
 * and no script of a package runs.
 */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const outputBytesMax = 16 * 1024 * 1024;

/** Folders that Debian merged into `usr`. Packages contain either form. */
const merged = ['bin', 'sbin', 'lib', 'lib64'];

/** Unpacks the packages into an empty folder. */
export async function unpackPackages(root: string, packages: readonly string[]): Promise<void> {
  for (const name of merged) {
    await mkdir(join(root, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  const folder = await mkdtemp(join(tmpdir(), 'hangar-debian-'));
  try {
    const names = await withDependencies(packages);
    await apt(['download', ...names], folder);
    for (const archive of (await readdir(folder)).toSorted()) {
      // `dpkg-deb --extract` replaces the links of merged folders with folders.
      const script = 'dpkg-deb --fsys-tarfile "$0" | tar --extract --keep-directory-symlink --directory="$1"';
      await execute('sh', ['-c', script, join(folder, archive), root], { maxBuffer: outputBytesMax });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the packages that a system without any package would install. */
async function withDependencies(packages: readonly string[]): Promise<string[]> {
  const simulate = async (): Promise<string[]> => {
    const options = ['--simulate', '--no-install-recommends', '-o', 'Dir::State::status=/dev/null'];
    return parseSimulation(await apt(['install', ...options, ...packages]));
  };
  return simulate().catch(async () => {
    // A fresh container image has no package lists.
    await apt(['update']);
    return simulate();
  });
}

/** Returns the names of the lines `Inst NAME (VERSION …)` of `apt-get install --simulate`. */
export const parseSimulation = (output: string): string[] =>
  [...output.matchAll(/^Inst (\S+) /gm)].map(([, name]) => name!);

async function apt(args: readonly string[], cwd?: string): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  try {
    const options = { env, maxBuffer: outputBytesMax, ...(cwd !== undefined && { cwd }) };
    return (await execute('apt-get', ['--quiet', ...args], options)).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = `apt-get ${args[0]}: ${stderr.trim() || message}`;
    throw new Error(`the images of conformance tests are assembled from Debian packages: ${reason}`, { cause: error });
  }
}

/** Returns the Debian release of this machine, which decides the versions of packages. */
export async function debianRelease(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8');
  return /^VERSION_CODENAME=(.*)$/m.exec(text)?.[1] ?? 'unknown';
}
