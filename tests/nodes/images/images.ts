/**
 * Assembles the images of the nodes' containers from the programs of `tools/` and keeps them in its cache. No registry is used, and the
 * repository contains no image.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../../tools/lock.ts';
import { tool } from '../../../tools/tool.ts';
import { systemWorld } from '../../../tools/world.ts';
import { writeArchive } from './archive.ts';
import { catalogue, defaultImages } from './catalogue.ts';
import type { Image, ImageName } from './catalogue.ts';
import { debianRelease, unpackPackages } from './debian.ts';

export type { ImageName } from './catalogue.ts';

const execute = promisify(execFile);
const log = (line: string): void => console.log(line);

/** Returns the name of the image as pods use it. */
export const imageName = (name: ImageName): string => `hangar.test/${name}:1`;

/** Increase it when the content of images changes without a change of their programs or of the catalogue. */
const layoutVersion = 2;

/** The files of this machine that an image is made of. */
interface Ingredients {
  /** Path in the image → path on this machine. */
  readonly programs: Readonly<Record<string, string>>;
  readonly busybox: string | undefined;
}

/** Returns the path of the image's OCI archive; assembles it first if necessary. */
export async function imageArchive(name: ImageName): Promise<string> {
  const image: Image = catalogue[name];
  const ingredients = await ingredientsOf(image);
  const folder = join(systemWorld(log).cacheFolder, 'images', name);
  const archive = join(folder, `${await hashOf(image, ingredients)}.tar`);
  if (existsSync(archive)) return archive;
  await mkdir(dirname(folder), { recursive: true });
  await withLock({ path: `${folder}.lock` }, async () => {
    if (existsSync(archive)) return;
    await rm(folder, { recursive: true, force: true });
    await writeArchive(archive, {
      name: imageName(name),
      process: image.process,
      fill: (root) => fill(root, image, ingredients),
    });
  });
  return archive;
}

async function ingredientsOf({ programs, hasBusybox }: Image): Promise<Ingredients> {
  const found: Record<string, string> = {};
  for (const [at, find] of Object.entries(programs)) found[at] = await find();
  return { programs: found, busybox: hasBusybox ? await tool('busybox', { log }) : undefined };
}

async function hashOf(image: Image, { programs, busybox }: Ingredients): Promise<string> {
  const { programs: _, generated: __, ...described } = image;
  const hash = createHash('sha256').update(`${layoutVersion} ${JSON.stringify(described)}\n`);
  if (image.packages) hash.update(`${await debianRelease()}\n`);
  for (const file of [...Object.values(programs), ...(busybox === undefined ? [] : [busybox])]) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Later steps keep the files of earlier ones. */
async function fill(root: string, image: Image, { programs, busybox }: Ingredients): Promise<void> {
  if (image.packages) await unpackPackages(root, image.packages);
  await writeBase(root);
  for (const [at, target] of Object.entries(image.links ?? {})) await link(root, at, target);
  for (const [at, content] of Object.entries({ ...image.files, ...image.generated?.() })) {
    await mkdir(dirname(join(root, at)), { recursive: true });
    await writeFile(join(root, at), content);
  }
  for (const [at, program] of Object.entries(programs)) {
    await mkdir(dirname(join(root, at)), { recursive: true });
    await copyFile(program, join(root, at));
  }
  for (const at of image.setuid ?? []) await chmod(join(root, at), 0o4755);
  if (busybox !== undefined) await addBusybox(root, busybox);
}

async function writeBase(root: string): Promise<void> {
  for (const folder of ['etc', 'tmp', 'root']) await mkdir(join(root, folder), { recursive: true });
  await chmod(join(root, 'tmp'), 0o1777);
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
}

async function addBusybox(root: string, busybox: string): Promise<void> {
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile(busybox, join(root, 'bin/busybox'));
  const { stdout } = await execute(busybox, ['--list']);
  for (const applet of stdout.trim().split('\n')) await link(root, `bin/${applet}`, 'busybox');
}

/** Keeps a file that exists. */
async function link(root: string, at: string, target: string): Promise<void> {
  await mkdir(dirname(join(root, at)), { recursive: true });
  await symlink(target, join(root, at)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Returns the archives of images by their names. */
export async function imageArchives(
  names: readonly ImageName[] = defaultImages,
): Promise<ReadonlyMap<ImageName, string>> {
  const archives = new Map<ImageName, string>();
  for (const name of names) archives.set(name, await imageArchive(name));
  return archives;
}
