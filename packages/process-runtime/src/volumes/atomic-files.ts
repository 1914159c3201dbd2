/**
 * Writes the files of a volume so that a reader sees either all old or all new files, with the layout of the kubelet:
 *
 *     ca.crt → ..data/ca.crt
 *     ..data → ..2026_01_02_03_04_05.1f2e3d4c
 *     ..2026_01_02_03_04_05.1f2e3d4c/ca.crt
 *
 * One rename of `..data` publishes a new version.
 */

import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, Random } from '@hangar/core';

export interface VolumeFile {
  readonly data: Buffer;
  readonly mode: number;
}

/** Files by their path relative to the volume. */
export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

export interface AtomicFilesOptions {
  readonly folder: string;
  readonly files: VolumeFiles;
  readonly clock: Clock;
  readonly random: Random;
}

const dataLink = '..data';

/** Resolves with false if the files were already there. */
export async function writeAtomically({ folder, files, clock, random }: AtomicFilesOptions): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const current = await readlink(join(folder, dataLink)).catch(() => undefined);
  if (current !== undefined && (await isSame(join(folder, current), files))) return false;
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '_');
  const version = `..${stamp}.${Buffer.from(random.bytes(4)).toString('hex')}`;
  await writeVersion(join(folder, version), files);
  await replaceLink(join(folder, dataLink), version);
  await writeLinks(folder, files);
  if (current !== undefined) await rm(join(folder, current), { recursive: true, force: true });
  return true;
}

async function writeVersion(folder: string, files: VolumeFiles): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  for (const [path, { data, mode }] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, data, { mode });
    // The mode of a new file is masked by the umask of the process.
    await chmod(file, mode);
  }
}

async function replaceLink(link: string, target: string): Promise<void> {
  const next = `${link}_tmp`;
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, link);
}

/** One link for each first part of a path. Links of removed files are removed. */
async function writeLinks(folder: string, files: VolumeFiles): Promise<void> {
  const wanted = new Set(Array.from(files.keys(), (path) => path.split('/')[0]!));
  const present = new Set((await readdir(folder)).filter((name) => !name.startsWith('..')));
  for (const name of wanted) if (!present.has(name)) await symlink(join(dataLink, name), join(folder, name));
  for (const name of present) if (!wanted.has(name)) await rm(join(folder, name), { force: true });
}

async function isSame(version: string, files: VolumeFiles): Promise<boolean> {
  try {
    const entries = await readdir(version, { recursive: true, withFileTypes: true });
    if (entries.filter((entry) => entry.isFile()).length !== files.size) return false;
    for (const [path, { data }] of files) if (!data.equals(await readFile(join(version, path)))) return false;
    return true;
  } catch {
    return false;
  }
}
