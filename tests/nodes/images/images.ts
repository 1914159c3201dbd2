/**
 * The images of the nodes' containers, assembled from the programs of `tools/` and kept in its cache. No registry is used, and the
 * repository contains no image.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../../../tools/lock.ts';
import { ownProgram } from '../../../tools/own-program.ts';
import { tool } from '../../../tools/tool.ts';
import { systemWorld } from '../../../tools/world.ts';
import { writeArchive } from './archive.ts';
import type { ImageProcess } from './archive.ts';

const execute = promisify(execFile);

interface Image {
  readonly process: ImageProcess;
  /** Resolves with the path of its program. */
  program(): Promise<string>;
  /** Path of the program in the image. */
  readonly at: string;
  /** Whether the image has the programs of busybox, among them a shell. */
  readonly hasShell: boolean;
}

const log = (line: string): void => console.log(line);
const path = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];

const catalogue = {
  pause: {
    program: pauseProgram,
    at: 'pause',
    process: { Entrypoint: ['/pause'], User: '65535:65535' },
    hasShell: false,
  },
  busybox: {
    program: () => tool('busybox', { log }),
    at: 'bin/busybox',
    process: { Cmd: ['sh'], Env: path },
    hasShell: true,
  },
  agnhost: {
    program: () => tool('agnhost', { log }),
    at: 'agnhost',
    process: { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: path },
    hasShell: true,
  },
  coredns: {
    program: () => tool('coredns', { log }),
    at: 'coredns',
    process: { Entrypoint: ['/coredns'] },
    hasShell: false,
  },
} as const satisfies Record<string, Image>;

export type ImageName = keyof typeof catalogue;

/** Returns the name of the image as pods use it. */
export const imageName = (name: ImageName): string => `hangar.test/${name}:1`;

/** The program of the sandbox container of pods. */
function pauseProgram(): Promise<string> {
  const folder = fileURLToPath(new URL('../programs/pause', import.meta.url));
  return ownProgram({ name: 'hangar-pause', folder }, log);
}

/** Increase it when the content of images changes without a change of their programs. */
const layoutVersion = 1;

/** Returns the path of the image's OCI archive; assembles it first if necessary. */
export async function imageArchive(name: ImageName): Promise<string> {
  const image: Image = catalogue[name];
  const program = await image.program();
  const busybox = image.hasShell ? await tool('busybox', { log }) : undefined;
  const folder = join(systemWorld(log).cacheFolder, 'images', name);
  const archive = join(folder, `${await hashOf([program, busybox], image.process)}.tar`);
  if (existsSync(archive)) return archive;
  await mkdir(dirname(folder), { recursive: true });
  await withLock({ path: `${folder}.lock` }, async () => {
    if (existsSync(archive)) return;
    await rm(folder, { recursive: true, force: true });
    await writeArchive(archive, {
      name: imageName(name),
      process: image.process,
      async fill(root) {
        await writeBase(root);
        if (busybox !== undefined) await addShell(root, busybox);
        await copyFile(program, join(root, image.at));
      },
    });
  });
  return archive;
}

async function hashOf(files: readonly (string | undefined)[], process: ImageProcess): Promise<string> {
  const hash = createHash('sha256').update(`${layoutVersion} ${JSON.stringify(process)}\n`);
  for (const file of files) {
    if (file === undefined) continue;
    const { size, mtimeMs } = await stat(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function writeBase(root: string): Promise<void> {
  for (const folder of ['etc', 'tmp', 'root']) await mkdir(join(root, folder), { recursive: true });
  await execute('chmod', ['1777', join(root, 'tmp')]);
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
}

async function addShell(root: string, busybox: string): Promise<void> {
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile(busybox, join(root, 'bin/busybox'));
  const { stdout } = await execute(busybox, ['--list']);
  for (const applet of stdout.trim().split('\n')) {
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
}

const allNames = Object.keys(catalogue) as ImageName[];

/** Returns the archives of images by their names. */
export async function imageArchives(names: readonly ImageName[] = allNames): Promise<ReadonlyMap<ImageName, string>> {
  const archives = new Map<ImageName, string>();
  for (const name of names) archives.set(name, await imageArchive(name));
  return archives;
}
